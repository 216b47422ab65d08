#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Folds of which a condition leaves one iteration, or a number of equal ones, lose that range:
//
//   fold over r of where(r == x, value(r), unit)   where(0 <= x < n, value(x), unit)
//   sum over r of where(a <= r < b, c, 0)          c * (the length of [a, b) within [0, n))
//
// The first is true of every fold and type: floats go through the fold's operation once more, as a
// -0.0 and the bits of a NaN do not come out of it. x may be loaded. What is read at x is gated by
// 0 <= x < n. The second is true of integers, which wrap.
const uop::Pass& load_collapse();

}  // namespace assay::codegen
