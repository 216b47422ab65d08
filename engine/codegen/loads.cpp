#include "engine/codegen/loads.h"

#include <vector>

#include "engine/codegen/forms.h"
#include "engine/codegen/place.h"
#include "engine/codegen/rebuild.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Run;

// An order that is said of a place is one of its storage.
Ref ordered(Graph& g, Ref place, std::vector<Ref>& sources) {
  sources[0] = place->src[0];
  const Ref state = g.make(Op::After, place->dtype, sources);
  sources.assign(place->src.begin(), place->src.end());
  sources[0] = state;
  return g.with_sources(place, sources);
}

Result<Ref> add_loads(Run& run, Ref root) {
  Graph& g = run.graph();
  std::vector<Ref> sources;
  return rebuild(g, toposort(g, root), [&](Ref u, std::span<const Ref> now) {
    sources.assign(now.begin(), now.end());
    for (size_t i = 0; i < sources.size(); ++i) {
      const Ref s = sources[i];
      if (is_read(u, i) && is_place(s)) sources[i] = g.make(Op::Load, s->dtype, {s});
    }
    const bool orders_place = u->op == Op::After && is_place(sources[0]) && !is_state(sources[0]);
    return orders_place ? ordered(g, sources[0], sources) : on_sources(g, u, sources);
  });
}

}  // namespace

const uop::Pass& pm_add_loads() {
  static const uop::Pass pass = {"pm_add_loads", placed_form(), loads_form(), {}, {}, add_loads};
  return pass;
}

}  // namespace assay::codegen
