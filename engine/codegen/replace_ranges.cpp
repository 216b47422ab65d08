#include "engine/codegen/replace_ranges.h"

#include <algorithm>

#include "engine/uop/node_map.h"
#include "engine/uop/walk.h"

namespace assay::codegen {

using uop::Op;
using uop::Ref;

Ref replace_ranges(uop::Graph& g, Ref kernel, std::span<const RangeChange> changes) {
  uop::NodeMap<const RangeChange*> places;
  for (const RangeChange& change : changes) places.set(change.range, &change);
  uop::NodeMap<Ref> done;
  std::vector<Ref> sources;
  for (const Ref u : uop::toposort(g, kernel)) {
    if (const RangeChange* const* change = places.find(u)) {
      done.set(u, (*change)->value);
      continue;
    }
    sources.clear();
    const bool closes = u->op == Op::End || u->op == Op::Reduce;
    for (const Ref s : u->src) {
      const RangeChange* const* change = closes && s != u->src[0] ? places.find(s) : nullptr;
      if (change == nullptr) {
        sources.push_back(done.at(s));
      } else {
        sources.insert(sources.end(), (*change)->ranges.begin(), (*change)->ranges.end());
      }
    }
    if (closes) {
      std::sort(sources.begin() + 1, sources.end(),
                [](Ref a, Ref b) { return a->arg.number() < b->arg.number(); });
      sources.erase(std::unique(sources.begin() + 1, sources.end()), sources.end());
    }
    done.set(u, g.with_sources(u, sources));
  }
  return done.at(kernel);
}

}  // namespace assay::codegen
