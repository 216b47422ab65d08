#pragma once

#include "engine/uop/spec.h"

namespace assay::codegen {

// A LINEAR is a list that can be run from top to bottom: each node stands in it once and after its
// sources; loops and branches are nested and closed in turn; what stands in a loop, or in a branch,
// is not named outside of it; a branch holds stores and what they name, and no loop or BARRIER;
// PARAMs come before all that is no CONST, in order of their slots; all below the root is in the
// list.
const uop::Invariant& linear_order();

}  // namespace assay::codegen
