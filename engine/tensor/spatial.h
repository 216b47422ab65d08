#pragma once

#include <string_view>
#include <vector>

#include "engine/tensor/nodes.h"

namespace assay::tensor {

// What a size says that must be a number above zero.
Result<int64_t> positive_number(const Building& b, std::string_view name, Ref size);

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

// The windows of the axes from `axis` on, which stand in their places; the windows' elements are
// the last axes. It is an error if one does not fit.
Result<Term> all_windows(const Building& b, Term x, int64_t axis,
                         const std::vector<Window>& windows);

}  // namespace assay::tensor
