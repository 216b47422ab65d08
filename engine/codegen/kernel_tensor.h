#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

using Cells = std::vector<uop::Cell>;
using Extents = std::span<const int64_t>;

// A value with a shape, row-major.
struct Tensor {
  std::vector<int64_t> sizes;
  Cells cells;
};

inline const uop::Cell kInvalidCell = {uop::Cell::State::Invalid, {}};

int64_t count(Extents sizes);
// The shape to which both broadcast; fails the test where they do not.
std::vector<int64_t> joined(Extents a, Extents b);
// The shape to which all of them broadcast.
std::vector<int64_t> joined(std::span<const Tensor> all);
// Which element of a tensor of sizes `from` stands at element i of `to`, to which it broadcasts.
size_t broadcast_from(Extents from, Extents to, int64_t i);

// A scalar function, element by element.
Tensor applied(uop::Ref u, std::span<const Tensor> sources);
// EXPAND or PERMUTE u of x to these sizes.
Tensor moved(uop::Ref u, const Tensor& x, std::vector<int64_t> sizes);
// x folded into `to`, over its leading axes from the left. INVALID is the unit.
void fold(uop::Ref reduce, const Tensor& x, Cells& to);

// The elements that indices of the leading axes of `sizes` name: each index one axis, all
// broadcast, the axes left over after that.
struct Elements {
  std::vector<int64_t> sizes;
  std::vector<int64_t> offsets;  // row-major in `sizes` of the whole; -1 where an index is INVALID
};
// Fails the test where an index is out of bounds.
Elements elements(Extents whole, std::span<const Tensor> indices);
// What stands there, INVALID where an index is.
Tensor taken(const Cells& cells, const Elements& at);

}  // namespace assay::codegen
