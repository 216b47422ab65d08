#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// END(x, r0, r1, …) becomes END(END(x, r1), r0): one END a range, the inner loop first. What an END
// names that is no RANGE stands for the ranges in it; a range whose count depends on another one is
// inside of it. A range that several ENDs close is a loop of its own for each of them.
const uop::Pass& add_control_flow();

// Each END closes one RANGE, each RANGE has one END, and nothing is left open.
const uop::Invariant& one_end_a_range();

}  // namespace assay::codegen
