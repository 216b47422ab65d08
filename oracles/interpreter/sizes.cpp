#include "oracles/interpreter/sizes.h"

#include <unordered_map>

#include "engine/uop/walk.h"
#include "oracles/interpreter/scalar.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

bool is_bound(Ref u) { return u->op == Op::Bind && uop::is_const(u->src[1]); }

}  // namespace

Slot constant_slot(Ref constant) {
  const uint64_t bits = constant->arg.bits;
  if (!uop::is_float(constant->dtype)) return bits;
  Slot s = 0;
  decode(constant->dtype, reinterpret_cast<const std::byte*>(&bits), &s, 1);
  return s;
}

Result<Slot> variable_value(Ref u, const Variables& variables) {
  if (is_bound(u)) return constant_slot(u->src[1]);
  if (u->op != Op::Variable) return Error{fmt::format("{} is no variable", uop::to_text(u->op))};
  const auto found = variables.find(u->arg.name());
  if (found == variables.end())
    return Error{fmt::format("variable {} has no value", quoted(u->arg.name()))};
  const int64_t value = found->second;
  if (uop::is_float(u->dtype)) return slot(static_cast<double>(value));
  const auto bounds = u->arg.numbers();
  const bool below = !bounds.empty() && value < bounds[0];
  if (below || (!bounds.empty() && value > bounds[1])) {
    return Error{fmt::format("variable {} is {}, not in {}..{}", quoted(u->arg.name()), value,
                             bounds[0], bounds[1])};
  }
  return wrapped(static_cast<Slot>(value), u->dtype);
}

Result<int64_t> size_value(uop::Graph& g, Ref size, const Variables& variables) {
  if (uop::is_const(size)) return static_cast<int64_t>(size->arg.bits);
  std::unordered_map<Ref, Slot> values;
  for (const Ref u : uop::toposort(g, size)) {
    if (uop::is_const(u)) {
      values[u] = constant_slot(u);
      continue;
    }
    if (u->op == Op::Variable || is_bound(u)) {
      // Below a BIND the variable need not have a value of its own.
      const auto value = variable_value(u, variables);
      if (!value.ok() && u == size) return value.error();
      if (value.ok()) values[u] = value.value();
      continue;
    }
    const std::optional<Scalar> scalar =
        u->src.empty() ? std::nullopt : scalar_of(u->op, {u->dtype, u->src[0]->dtype});
    if (!scalar) return Error{fmt::format("{} in a size", uop::to_text(u->op))};
    Operand operands[3] = {};
    for (size_t i = 0; i < u->src.size(); i++) {
      const auto found = values.find(u->src[i]);
      if (found == values.end()) return variable_value(u->src[i], variables).error();
      operands[i] = {&found->second, 0};
    }
    Slot result = 0;
    scalar->run(&result, operands, 1);
    scalar->finish(&result, 1);
    values[u] = result;
  }
  return static_cast<int64_t>(values.at(size));
}

}  // namespace assay::interpreter
