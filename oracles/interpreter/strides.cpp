#include "oracles/interpreter/strides.h"

#include <fmt/format.h>

namespace assay::interpreter {

int64_t product_of(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

Result<std::vector<int64_t>> broadcast_sizes(std::span<const std::vector<int64_t>> shapes) {
  std::vector<int64_t> to;
  for (const std::vector<int64_t>& shape : shapes) {
    if (shape.size() > to.size()) to.insert(to.begin(), shape.size() - to.size(), 1);
    const size_t skipped = to.size() - shape.size();
    for (size_t i = 0; i < shape.size(); i++) {
      int64_t& size = to[skipped + i];
      if (shape[i] == size || shape[i] == 1) continue;
      if (size != 1) return Error{fmt::format("sizes {} and {} do not broadcast", size, shape[i])};
      size = shape[i];
    }
  }
  return to;
}

std::vector<int64_t> row_major(std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

std::vector<int64_t> broadcast_strides(std::span<const int64_t> from, std::span<const int64_t> to) {
  const std::vector<int64_t> own = row_major(from);
  std::vector<int64_t> strides(to.size(), 0);
  const size_t skipped = to.size() - from.size();
  for (size_t i = 0; i < from.size(); i++) {
    if (from[i] != 1) strides[skipped + i] = own[i];
  }
  return strides;
}

std::vector<int64_t> elements_of(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                 int64_t first) {
  std::vector<int64_t> elements;
  const int64_t count = product_of(sizes);
  elements.reserve(static_cast<size_t>(count));
  std::vector<int64_t> at(sizes.size(), 0);
  int64_t element = first;
  for (int64_t n = 0; n < count; n++) {
    elements.push_back(element);
    for (size_t axis = sizes.size(); axis-- > 0;) {
      element += strides[axis];
      if (++at[axis] < sizes[axis]) break;
      element -= strides[axis] * sizes[axis];
      at[axis] = 0;
    }
  }
  return elements;
}

}  // namespace assay::interpreter
