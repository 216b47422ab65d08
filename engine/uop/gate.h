#pragma once

#include "engine/uop/uop.h"

namespace assay::uop {

// An index that is accessed only where a gate holds: where(gate, index, INVALID). The gate is null
// where it always holds.
struct Gated {
  Ref index;
  Ref gate = nullptr;
};

bool is_gated(Ref u);
// The index and its gate; u itself where it has none.
Gated split_gate(Ref u);
// where(gate, index, INVALID), or the index alone.
Ref gated(Graph& g, Ref index, Ref gate);
// Where both hold: each condition once.
Ref both(Graph& g, Ref a, Ref b);
// u with one more gate, which comes first.
Ref also_gated(Graph& g, Ref u, Ref gate);

}  // namespace assay::uop
