#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace assay::schedule {

// Storage that is wanted from one position up to another, without it. Sizes and offsets are in
// blocks.
struct Span {
  int32_t begin = 0;
  int32_t end = 0;
  int64_t size = 0;
};

struct Packing {
  std::vector<int64_t> offsets;
  int64_t height = 0;   // the end of the highest
  std::string_view by;  // the way that gave it
};

// Offsets at which no two spans that share a position overlap. Several ways are tried, the lowest
// is taken; all of it depends on the spans alone. The sum of the sizes is below 2^62. Near-linear:
// ways that look at pairs stop after a number of steps.
Packing pack(std::span<const Span> spans);

// No packing is lower: the most that is wanted at one position.
int64_t lowest_height(std::span<const Span> spans);

}  // namespace assay::schedule
