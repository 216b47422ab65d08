#include "engine/codegen/uniform.h"

#include <algorithm>

#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::codegen {

using uop::Op;
using uop::Ref;

Uniform::Uniform(uop::Graph& g, Ref root) : g_(g) {
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op != Op::Store) continue;
    if (const Ref storage = uop::buffer(g, u->src[0])) stored_.set(storage, 1);
  }
}

bool Uniform::operator()(Ref u) {
  return uop::derive(known_, u, [this](Ref v) { return holds(v) ? uint8_t{1} : uint8_t{0}; }) != 0;
}

bool Uniform::holds(Ref u) const {
  if (u->op == Op::Special && u->arg.name().starts_with("lidx")) return false;
  if (u->op == Op::Load) {
    const Ref storage = uop::buffer(g_, u->src[0]);
    const bool is_constant =
        storage != nullptr && storage->op == Op::Param && !stored_.has(storage);
    if (!is_constant) return false;
  }
  // What an AFTER, or the end of a loop, waits for does not change the value.
  const size_t count = u->op == Op::After || u->op == Op::End ? 1 : u->src.size();
  return std::all_of(u->src.begin(), u->src.begin() + static_cast<ptrdiff_t>(count),
                     [&](Ref s) { return known_.at(s) != 0; });
}

}  // namespace assay::codegen
