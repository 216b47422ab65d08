#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/result.h"
#include "engine/tensor/program/program.h"

namespace assay::tensor {

// The bits of the `count` elements of an input, at its type. Data are literals; start + i * step is
// computed exactly for integers (wrapped), in double and rounded once for floats; random elements
// are a function of (distribution, type, seed, i) alone, by a counter-based generator:
//   uniform   floats in [low, high), default [-1, 1); rounded down to the type's grid
//   normal    mean 0, deviation 1, by the sum of twelve uniform ones: none past 6
//   integers  whole numbers in [low, high], default [-8, 8] (cut to what the type holds)
//   nasty     NaN, ±inf, ±0, subnormals, the largest and least, powers of two, ±1, near-ties; for
//             integers the ends, 0, ±1, powers of two and their neighbours; mixed with ordinary
//             ones
Result<std::vector<uint64_t>> input_bits(const Define& input, int64_t count);

// What is wrong with how an input says its contents, if anything.
std::optional<std::string> contents_error(const Define& input);

}  // namespace assay::tensor
