#pragma once

#include "engine/uop/uop.h"

namespace assay::codegen {

// The kernel with each value that a REDUCE folds being a value for every lane: the unit of the fold
// where it was INVALID, that is where `where(inside, x, INVALID)` is outside, or where the index of
// what it reads is gated off. Indices keep their gates.
uop::Ref pm_reduce_identity(uop::Graph& g, uop::Ref root);

}  // namespace assay::codegen
