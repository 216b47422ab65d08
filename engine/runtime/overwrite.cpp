#include "engine/runtime/overwrite.h"

#include <algorithm>

#include "engine/uop/bounds.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"

namespace assay::runtime {
namespace {

using uop::Op;
using uop::Ref;

// Whether END(STORE(INDEX(b, i), x), r…) has as many iterations as b has elements, all of which
// store. Iterations of a kernel store to distinct elements.
bool is_whole(uop::Graph& g, Ref end) {
  if (end->op != Op::End || end->src[0]->op != Op::Store) return false;
  const Ref place = end->src[0]->src[0];
  if (place->op != Op::Index || uop::may_be_invalid(g, place->src[1])) return false;
  uop::Int128 times = 1;
  for (const Ref r : end->src.subspan(1)) {
    const uop::Bounds count = uop::bounds(g, r->src[0]);
    if (!uop::is_single(count) || count.lo > INT32_MAX) return false;
    times *= count.lo;
  }
  const auto size = uop::constant_size(uop::shape(g, place->src[0]));
  return size && times == *size;
}

}  // namespace

bool Overwrite::reads(int32_t slot) const { return std::ranges::binary_search(read, slot); }

Overwrite overwrite_of(uop::Graph& g, Ref kernel) {
  Overwrite o;
  std::vector<Ref> stored;
  const std::vector<Ref> nodes = uop::toposort(g, kernel);
  for (const Ref u : nodes) {
    if (u->op == Op::Store) stored.push_back(u->src[0]);
  }
  for (const Ref u : nodes) {
    if (u->op != Op::Index || u->src[0]->op != Op::Param) continue;
    // The place of a store may be read as well: then it has another user.
    const bool is_target = std::ranges::find(stored, u) != stored.end();
    const bool is_value = std::ranges::any_of(nodes, [&](Ref user) {
      if (user->op == Op::Linear) return false;
      const auto used = user->op == Op::Store ? user->src.subspan(1) : user->src;
      return std::ranges::find(used, u) != used.end();
    });
    if (is_target && !is_value) continue;
    o.read.push_back(static_cast<int32_t>(u->src[0]->arg.number()));
  }
  std::ranges::sort(o.read);
  o.is_whole = kernel->op == Op::Sink && kernel->src.size() == 1 && is_whole(g, kernel->src[0]);
  return o;
}

}  // namespace assay::runtime
