#include <algorithm>
#include <numeric>

#include "oracles/interpreter/arguments.h"
#include "oracles/interpreter/call.h"
#include "oracles/interpreter/interpreter.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

bool is_permutation_of_places(std::span<const int> order, size_t count) {
  if (order.size() != count) return false;
  std::vector<bool> seen(count, false);
  for (const int i : order) {
    if (i < 0 || static_cast<size_t>(i) >= count || seen[static_cast<size_t>(i)]) return false;
    seen[static_cast<size_t>(i)] = true;
  }
  return true;
}

// The BUFFER that an argument is a view of; nullptr where there is none.
Ref base_of(Ref u) {
  while (u->op == Op::Bitcast || u->op == Op::Shrink || u->op == Op::Reshape) u = u->src[0];
  return u->op == Op::Buffer ? u : nullptr;
}

struct Calls {
  uop::Graph& g;
  std::span<const Ref> list;
  std::span<const Ref> outer;  // what PARAMs stand for
  const Variables& variables;
  Memory& memory;
};

// Bytes of an arena are poisoned as the type that the first call to use them takes them for, since
// what is poison of u8 may be a small number of a float.
Result<bool> poison_arenas(const Calls& calls) {
  std::vector<Ref> views;
  for (const Ref call : calls.list) {
    for (const Ref a : call->src.subspan(1)) {
      const Ref base = base_of(a);
      if (base != nullptr && base != a && !calls.memory.has(base->arg.number())) views.push_back(a);
    }
  }
  for (size_t i = views.size(); i-- > 0;) {
    ASSAY_TRY(a, argument_of(calls.g, views[i], calls.outer, calls.variables, calls.memory));
    fill_poison(a.dtype, a.bytes.data(), a.size);
  }
  return true;
}

Result<bool> run_call(const Calls& calls, Ref call, Kernels& kernels,
                      std::vector<Argument>& arguments) {
  arguments.clear();
  for (const Ref a : call->src.subspan(1)) {
    if (a->op == Op::Bind || a->op == Op::Variable) continue;
    ASSAY_TRY(argument, argument_of(calls.g, a, calls.outer, calls.variables, calls.memory));
    arguments.push_back(argument);
  }
  return run_body(calls.g, call->src[0], arguments, calls.variables, kernels);
}

}  // namespace

Result<bool> run(uop::Graph& g, Ref linear, const Variables& variables, Memory& memory,
                 std::span<const int> order) {
  std::span<const Ref> outer;
  if (linear->op == Op::Call) {
    outer = linear->src.subspan(1);
    linear = linear->src[0];
  }
  if (linear->op != Op::Linear)
    return Error{fmt::format("{} is no linear", uop::to_text(linear->op))};
  const Calls calls = {g, linear->src, outer, variables, memory};
  if (!order.empty() && !is_permutation_of_places(order, calls.list.size())) {
    return Error{fmt::format("the order does not name {} calls once each", calls.list.size())};
  }
  for (const Ref call : calls.list) {
    if (call->op != Op::Call) return Error{fmt::format("{} in a linear", uop::to_text(call->op))};
  }
  if (const auto poisoned = poison_arenas(calls); !poisoned.ok()) return poisoned.error();
  Kernels kernels(g, variables);
  std::vector<Argument> arguments;
  for (size_t i = 0; i < calls.list.size(); i++) {
    const auto place = order.empty() ? i : static_cast<size_t>(order[i]);
    const auto ran = run_call(calls, calls.list[place], kernels, arguments);
    if (!ran.ok()) return Error{fmt::format("call {}: {}", place, ran.error().message)};
  }
  return true;
}

// What goes wrong stands last, after whose kernel it is.
bool is_fault(const Error& error) {
  const std::string_view text = error.message;
  const size_t colon = text.rfind(": ");
  const std::string_view last = colon == std::string_view::npos ? text : text.substr(colon + 2);
  return last.starts_with("reads ") || last.starts_with("writes ") ||
         last.starts_with("takes element ");
}

}  // namespace assay::interpreter
