#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/uop/shape.h"

namespace assay::codegen {

// Lanes are numbered in row-major order of the sizes of a shape, all of which are constants.
using Sizes = std::vector<int64_t>;

inline constexpr int64_t kMostListed = int64_t{1} << 20;

// The sizes of a shape; nothing where one is symbolic or there are more lanes than kMostListed.
std::optional<Sizes> sizes_of(uop::Shape shape);
int64_t count_of(std::span<const int64_t> sizes);
// How far apart the lanes of neighbours along each axis are.
Sizes strides_of(std::span<const int64_t> sizes);

// The lane at which each lane of `sizes` finds its value, where a step along axis i goes strides[i]
// lanes further.
void order_by(std::span<const int64_t> sizes, std::span<const int64_t> strides,
              std::vector<uint32_t>& out);
// The strides with which an operand broadcasts to a shape, aligned from the right, whatever sizes
// of 1 it has in front; nothing where it does not.
std::optional<Sizes> broadcast_strides(std::span<const int64_t> operand,
                                       std::span<const int64_t> whole);

}  // namespace assay::codegen
