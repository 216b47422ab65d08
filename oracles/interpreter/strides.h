#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/result.h"

// Row-major boxes as lists of sizes.
namespace assay::interpreter {

int64_t product_of(std::span<const int64_t> sizes);
// The shape of operands that broadcast, or an error.
Result<std::vector<int64_t>> broadcast_sizes(std::span<const std::vector<int64_t>> shapes);
std::vector<int64_t> row_major(std::span<const int64_t> sizes);
// The strides by which a box of sizes `from` is read as one of `to`, to which it broadcasts.
std::vector<int64_t> broadcast_strides(std::span<const int64_t> from, std::span<const int64_t> to);
// The elements that a box of `sizes` with these strides has, in row-major order.
std::vector<int64_t> elements_of(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                 int64_t first);

}  // namespace assay::interpreter
