#pragma once

#include "oracles/reference/bounded.h"
#include "oracles/reference/rounding.h"

// One function for each Fn, of operands that are known (neither unspecified nor ambiguous).
namespace assay::reference {

using FloatKernel = Bounded (*)(const Format& f, const Bounded& a, const Bounded& b,
                                const Bounded& c);
using IntegerKernel = Bounded (*)(DType t, const Bounded& a, const Bounded& b, const Bounded& c);

// Null where fn has no such types.
FloatKernel float_kernel(Fn fn);
IntegerKernel integer_kernel(Fn fn);
// Those of float_kernel that have limits, and those that jump.
FloatKernel function_kernel(Fn fn);
FloatKernel step_kernel(Fn fn);

// a + b and a * b of known floats, which folds are made of.
Bounded add_floats(const Format& f, const Bounded& a, const Bounded& b);
Bounded multiply_floats(const Format& f, const Bounded& a, const Bounded& b);
Bounded max_floats(const Bounded& a, const Bounded& b);
Bounded min_floats(const Bounded& a, const Bounded& b);

}  // namespace assay::reference
