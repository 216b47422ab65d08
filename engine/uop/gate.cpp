#include "engine/uop/gate.h"

#include <algorithm>
#include <vector>

#include "engine/uop/given.h"

namespace assay::uop {

bool is_gated(Ref u) { return u->op == Op::Where && u->src[2]->op == Op::Invalid; }

Gated split_gate(Ref u) { return is_gated(u) ? Gated{u->src[1], u->src[0]} : Gated{u}; }

Ref gated(Graph& g, Ref index, Ref gate) {
  if (gate == nullptr) return index;
  const Ref nothing = g.make(Op::Invalid, index->dtype, {});
  return g.make(Op::Where, index->dtype, {gate, index, nothing});
}

Ref both(Graph& g, Ref a, Ref b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  const std::vector<Ref> held = conjuncts(a);
  for (const Ref c : conjuncts(b)) {
    if (std::ranges::find(held, c) == held.end()) a = g.make(Op::And, DType::Bool, {a, c});
  }
  return a;
}

Ref also_gated(Graph& g, Ref u, Ref gate) {
  const Gated at = split_gate(u);
  return gated(g, at.index, both(g, gate, at.gate));
}

}  // namespace assay::uop
