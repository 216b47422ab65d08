#pragma once

#include "engine/codegen/numbers.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// The kernel without REDUCEs: a fold over ranges is an accumulator in registers, and those of one
// loop share its END; lanes are folded from the left in row-major order (README.md, Reduced).
uop::Ref reduce_ranges_to_acc(uop::Graph& g, uop::Ref root, FreeNumbers& free);

}  // namespace assay::codegen
