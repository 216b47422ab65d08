#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/uop/op.h"
#include "engine/uop/value.h"

namespace assay::uop {

// The meaning of op at float type t: each result is the exact one, rounded once to nearest even.
// NaN in gives NaN out (nan_of), but pow(x, 0) and pow(1, y) are 1, and neg flips the sign of a NaN
// and keeps its other bits. max and min give NaN if either operand is NaN, and order -0.0 below 0.0
// (IEEE 754-2019 maximum, minimum).
std::optional<Value> eval_float(Op op, DType t, std::span<const Value> src);

// The number that a decimal text (digits, point, exponent) stands for, rounded once to float type
// t.
Value decimal(DType t, std::string_view text);

// Threefry-2x32 with 20 rounds (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3",
// 2011): the counter's and the key's low words first, in the low half.
uint64_t threefry(uint64_t counter, uint64_t key);

}  // namespace assay::uop
