#pragma once

#include "engine/uop/spec.h"

namespace assay::codegen {

// Claims about kernels between passes (README.md, Forms), each a walk.

// A RANGE is told by its number.
const uop::Invariant& ranges_have_numbers();
// A LOCAL or REG BUFFER, and a STAGE, is told by its number.
const uop::Invariant& buffers_have_numbers();
// No REDUCE folds axes of a shape.
const uop::Invariant& folds_ranges_only();
// No RANGE has type UPCAST or UNROLL.
const uop::Invariant& lanes_are_axes();
// A RANGE of type REDUCE is closed by one END.
const uop::Invariant& one_loop_a_fold();
// No RANGE has type GLOBAL, LOCAL, WARP or GROUP_REDUCE; a SPECIAL is an axis of a launch.
const uop::Invariant& axes_are_special();

}  // namespace assay::codegen
