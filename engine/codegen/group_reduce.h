#pragma once

#include "engine/codegen/numbers.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// The kernel with each fold that work-items share (over GROUP_REDUCE ranges G) in two: each item
// folds its part into its element of a LOCAL stage, then all of them fold what is in the stage. The
// stage has an axis for each other work-item axis that the part depends on, and one for each of G.
uop::Ref fix_group_for_reduce(uop::Graph& g, uop::Ref root, FreeNumbers& free);

}  // namespace assay::codegen
