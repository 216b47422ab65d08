#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// A range of which the kernel asks for r // c or r % c, c a divisor of its count, becomes two,
// which those are. The outer one keeps the number, and those behind it count on.
const uop::Pass& split_ranges();

// Index terms and conditions by the symbolic rules, and by what gates say of each other; values too
// where a condition of theirs is thereby decided.
const uop::Pass& simplify_kernel();

// Two ranges that are closed together and that the kernel reads only as r0 * n + r1, n the count of
// r1, become one. No quotient or remainder comes of it.
const uop::Pass& simplify_ranges();

}  // namespace assay::codegen
