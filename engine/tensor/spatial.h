#pragma once

#include <string_view>
#include <vector>

#include "engine/tensor/nodes.h"

namespace assay::tensor {

// What a size says that must be a number, of at least 1 or as said.
Result<int64_t> number_of(const Building& b, std::string_view name, Ref size, int64_t least = 1);

// Windows over the last axes, and by how much each axis is padded before and after.
struct Spatial {
  std::vector<Window> windows;
  std::vector<Dim> low;
  std::vector<Dim> high;
};
// Of the attributes stride, dilation and padding, for windows of these sizes. Where there is no
// stride it is 1, or the size.
enum class Stride : uint8_t { One, Size };
Result<Spatial> spatial(const Building& b, const std::vector<int64_t>& sizes, Stride fallback);

// Whether one of these windows fits in an axis of n.
Result<bool> fits(const Building& b, Dim n, const Window& window);
// The windows of the axes from `axis` on, which stand in their places; the windows' elements are
// the last axes. It is an error if one does not fit.
Result<Term> all_windows(const Building& b, Term x, int64_t axis,
                         const std::vector<Window>& windows);

}  // namespace assay::tensor
