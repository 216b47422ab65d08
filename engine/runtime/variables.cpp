#include "engine/runtime/variables.h"

#include <fmt/format.h>

#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/walk.h"

namespace assay::runtime {

using uop::Op;

const int64_t* find_variable(Variables variables, std::string_view name) {
  for (const auto& [key, value] : variables) {
    if (key == name) return &value;
  }
  return nullptr;
}

namespace {

// The term with the value of each BIND in its place.
Result<uop::Ref> without_binds(uop::Graph& g, uop::Ref term) {
  uop::Substitution values;
  for (const uop::Ref u : uop::toposort(g, term)) {
    const bool is_part = u->op == Op::Variable || is_const(u) || uop::is_scalar(u->op);
    if (u->op == Op::Bind && is_const(u->src[1])) {
      values[u] = u->src[1];
    } else if (!is_part) {
      return Error{fmt::format("{} in a size", to_text(u->op))};
    }
  }
  return values.empty() ? term : uop::substitute(g, term, values);
}

}  // namespace

Result<int64_t> size_value(uop::Graph& g, uop::Ref size, Variables variables) {
  if (is_const(size)) return static_cast<int64_t>(uop::as_int(size->value()));
  ASSAY_TRY(term, without_binds(g, size));
  uop::Evaluator evaluator(g, term);
  std::vector<uop::Value> values;
  values.reserve(evaluator.leaves().size());
  for (const uop::Ref leaf : evaluator.leaves()) {
    const int64_t* value = find_variable(variables, leaf->arg.name());
    if (value == nullptr) {
      return Error{fmt::format("variable {} has no value", leaf->arg.name()), 0, 0};
    }
    values.push_back(uop::of_int(leaf->dtype, *value));
  }
  const uop::Cell cell = evaluator.run(values);
  if (!cell.defined()) return Error{"a size is unspecified", 0, 0};
  return static_cast<int64_t>(uop::as_int(cell.value));
}

}  // namespace assay::runtime
