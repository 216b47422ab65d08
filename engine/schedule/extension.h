#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/schedule/history.h"

namespace assay::schedule {

// Kernels that wait for one another in a circle: each dependency's `to` is the next one's `from`,
// the first kernel is the least.
using Circle = std::vector<Dependency>;

// An order in which every dependency goes forward. Of the kernels that could be next it takes the
// first as numbered, so an order that is right already stays.
struct Extension {
  std::vector<int32_t> order;  // kernels; not all where there are circles
  // A shortest circle through some kernel, then others that stay when the first WAR of each is
  // taken away (with all that its kernel has for that version). One without a WAR is the last.
  std::vector<Circle> circles;
};
// Dependencies are by `from`, rising.
Extension linear_extension(int32_t kernels, std::span<const Dependency> dependencies);

}  // namespace assay::schedule
