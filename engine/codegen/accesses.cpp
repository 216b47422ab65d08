#include "engine/codegen/accesses.h"

#include <algorithm>

#include "engine/uop/gate.h"
#include "engine/uop/scope.h"
#include "engine/uop/sum.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::Op;
using uop::Ref;

Access access_of(uop::Graph& g, Ref u, const Tiling& tiling) {
  Access access = {u, false, {}};
  const auto [index, gate] = uop::split_gate(u->src[1]);
  const std::optional<uop::Sum> sum = uop::sum_of(g, index);
  access.along.reserve(tiling.axes().size());
  for (const Axis& axis : tiling.axes()) {
    Along along = {uop::depends_on(g, index, axis.range), 0, false};
    along.is_gated = gate != nullptr && uop::depends_on(g, gate, axis.range);
    int64_t others = 0;
    if (sum && along.depends) {
      for (const uop::Sum::Term& t : sum->terms()) {
        if (t.atom == axis.range) along.stride = t.factor;
        others += t.atom != axis.range && uop::depends_on(g, t.atom, axis.range) ? 1 : 0;
      }
    }
    if (others > 0) along.stride = 0;
    access.along.push_back(along);
  }
  return access;
}

}  // namespace

std::vector<Access> accesses_of(uop::Graph& g, Ref kernel, const Tiling& tiling) {
  std::vector<Access> accesses;
  uop::NodeMap<size_t> places;
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op == Op::Index) {
      places.set(u, accesses.size());
      accesses.push_back(access_of(g, u, tiling));
    }
    const bool stores = u->op == Op::Store && places.has(u->src[0]);
    if (stores) accesses[places.at(u->src[0])].is_stored = true;
  }
  return accesses;
}

}  // namespace assay::codegen
