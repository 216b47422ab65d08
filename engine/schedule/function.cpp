#include "engine/schedule/function.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/uop/node_map.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::NodeMap;
using uop::Op;

bool is_function(Ref u) {
  return u->op == Op::Call && u->src[0]->op != Op::Sink && u->src[0]->op != Op::Linear;
}

// What memory must hold of u, as text: symbolic sizes at their largest.
std::string largest_shape(Graph& g, Ref u) {
  const uop::Shape shape = uop::shape(g, u);
  return uop::shape_text(uop::max_shape(g, shape).value_or(shape));
}

Result<bool> check_argument(Graph& g, Ref call, Ref param) {
  const std::string name(call->arg.has_record() ? call->arg.name() : "");
  const int64_t slot = param->arg.number();
  const auto arguments = static_cast<int64_t>(call->src.size()) - 1;
  if (slot < 0 || slot >= arguments) {
    return Error{
        fmt::format("function '{}' takes slot {}, given {} arguments", name, slot, arguments)};
  }
  const Ref argument = call->src[static_cast<size_t>(slot) + 1];
  if (argument->dtype != param->dtype) {
    return Error{fmt::format("slot {} of function '{}' takes {}, given {}", slot, name,
                             uop::to_text(param->dtype), uop::to_text(argument->dtype))};
  }
  const std::string takes = largest_shape(g, param);
  const std::string given = largest_shape(g, argument);
  if (takes == given) return true;
  return Error{
      fmt::format("slot {} of function '{}' takes shape {}, given {}", slot, name, takes, given)};
}

}  // namespace

Result<Ref> resolve_function(Graph& g, Ref call) {
  if (!is_function(call)) return call;
  uop::Substitution arguments;
  for (const Ref u : uop::toposort(g, call->src[0], uop::Extent::OutsideBodies)) {
    if (u->op != Op::Param) continue;
    ASSAY_TRY(fits, check_argument(g, call, u));
    if (fits) arguments[u] = call->src[static_cast<size_t>(u->arg.number()) + 1];
  }
  return uop::substitute(g, call->src[0], arguments, uop::Extent::OutsideBodies);
}

Result<Ref> resolve_functions(Graph& g, Ref sink) {
  const std::vector<Ref> order = uop::toposort(g, sink);
  if (std::ranges::none_of(order, is_function)) return sink;
  NodeMap<Ref> done;
  std::vector<Ref> src;
  for (const Ref u : order) {
    src.clear();
    for (const Ref s : u->src) src.push_back(done.at(s));
    const Ref rebuilt = std::ranges::equal(src, u->src) ? u : g.with_sources(u, src);
    ASSAY_TRY(resolved, resolve_function(g, rebuilt));
    done.set(u, resolved);
  }
  return done.at(sink);
}

}  // namespace assay::schedule
