#pragma once

#include <span>

#include "engine/uop/pass.h"

namespace assay::codegen {

// From `vectors` to `lowered` (README.md, Forms): index_width, dtype_emulation, decompose. Each
// leaves a kernel as it is that needs nothing of it, after one look at its nodes.
//
// An error names what the target can neither do nor be made to: a type, or an operation at a type.
std::span<const uop::Pass* const> decompose_passes();

// Integers: division, shifts, powers and conversions that neither trap nor are undefined in C
// whatever their operands, threefry by 32-bit words, and what C has no operator for.
const uop::RuleSet& lower_integer_rules();
// Floats: max and min of IEEE 754-2019, rounding to whole numbers where the target has none, and
// operations that the target has at f32 but not at f16.
const uop::RuleSet& lower_float_rules();

// All rule sets of these passes, the ones above and transcendental_rules().
std::span<const uop::RuleSet* const> decompose_rules();

}  // namespace assay::codegen
