#include "oracles/interpreter/tensor.h"

#include <algorithm>

#include "oracles/interpreter/rows.h"

namespace assay::interpreter {
namespace {

std::vector<int64_t> dense_strides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

}  // namespace

bool Tensor::is_dense() const {
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

Tensor fresh(Blocks& blocks, DType t, std::vector<int64_t> shape) {
  Tensor made;
  made.dtype = t;
  made.strides = dense_strides(shape);
  made.shape = std::move(shape);
  made.block = blocks.make(made.size());
  return made;
}

void write(Blocks& blocks, const Tensor& x, const Tensor& to) {
  Rows rows(2);
  for (size_t i = x.shape.size(); i-- > 0;) {
    const int64_t strides[] = {x.strides[i], to.strides[i]};
    rows.add(x.shape[i], strides);
  }
  const Slot* from[] = {x.from(blocks), to.from(blocks)};
  Slot* base = blocks.at(to.block);
  rows.each(from, [&](int64_t /*place*/, const Operand* src, int64_t n) {
    Slot* out = base + (src[1].data - base);
    for (int64_t i = 0; i < n; i++) out[i * src[1].stride] = src[0].data[i * src[0].stride];
  });
}

Tensor dense(Blocks& blocks, const Tensor& x) {
  if (x.is_dense()) return x;
  Tensor made = fresh(blocks, x.dtype, x.shape);
  write(blocks, x, made);
  return made;
}

bool can_reshape(const Tensor& x, std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n == x.size() && std::all_of(sizes.begin(), sizes.end(), [](int64_t s) { return s >= 0; });
}

Tensor reshaped(Blocks& blocks, const Tensor& x, std::vector<int64_t> sizes) {
  Tensor made = dense(blocks, x);
  made.strides = dense_strides(sizes);
  made.shape = std::move(sizes);
  return made;
}

bool can_expand(const Tensor& x, std::span<const int64_t> sizes) {
  if (sizes.size() < x.shape.size()) return false;
  const size_t added = sizes.size() - x.shape.size();
  for (size_t i = 0; i < x.shape.size(); i++) {
    if (x.shape[i] != 1 && x.shape[i] != sizes[added + i]) return false;
  }
  return true;
}

Tensor expanded(const Tensor& x, std::vector<int64_t> sizes) {
  Tensor made = x;
  const size_t added = sizes.size() - x.shape.size();
  made.strides.assign(sizes.size(), 0);
  for (size_t i = 0; i < x.shape.size(); i++) {
    if (x.shape[i] == sizes[added + i]) made.strides[added + i] = x.strides[i];
  }
  made.shape = std::move(sizes);
  return made;
}

Tensor permuted(const Tensor& x, std::span<const int64_t> order) {
  Tensor made = x;
  for (size_t i = 0; i < order.size(); i++) {
    made.shape[i] = x.shape[static_cast<size_t>(order[i])];
    made.strides[i] = x.strides[static_cast<size_t>(order[i])];
  }
  return made;
}

Tensor flipped(const Tensor& x, std::span<const int64_t> axes) {
  Tensor made = x;
  for (const int64_t axis : axes) {
    const auto i = static_cast<size_t>(axis);
    if (x.shape[i] == 0) continue;
    made.first += (x.shape[i] - 1) * made.strides[i];
    made.strides[i] = -made.strides[i];
  }
  return made;
}

bool can_shrink(const Tensor& x, std::span<const int64_t> bounds) {
  if (bounds.size() != 2 * x.shape.size()) return false;
  for (size_t i = 0; i < x.shape.size(); i++) {
    const int64_t begin = bounds[2 * i];
    const int64_t size = bounds[2 * i + 1];
    if (begin < 0 || size < 0 || begin > x.shape[i] - size) return false;
  }
  return true;
}

Tensor shrunk(const Tensor& x, std::span<const int64_t> bounds) {
  Tensor made = x;
  for (size_t i = 0; i < x.shape.size(); i++) {
    made.first += bounds[2 * i] * x.strides[i];
    made.shape[i] = bounds[2 * i + 1];
  }
  // Where nothing is left there is no first element either.
  if (made.size() == 0) made.first = 0;
  return made;
}

bool can_pad(const Tensor& x, std::span<const int64_t> amounts) {
  const bool positive =
      std::all_of(amounts.begin(), amounts.end(), [](int64_t n) { return n >= 0; });
  return positive && amounts.size() == 2 * x.shape.size();
}

Tensor padded(Blocks& blocks, const Tensor& x, std::span<const int64_t> amounts, Slot fill) {
  std::vector<int64_t> sizes = x.shape;
  for (size_t i = 0; i < sizes.size(); i++) sizes[i] += amounts[2 * i] + amounts[2 * i + 1];
  Tensor made = fresh(blocks, x.dtype, sizes);
  std::fill_n(blocks.at(made.block), made.size(), fill);
  std::vector<int64_t> inside;
  for (size_t i = 0; i < sizes.size(); i++) {
    inside.push_back(amounts[2 * i]);
    inside.push_back(x.shape[i]);
  }
  write(blocks, x, shrunk(made, inside));
  return made;
}

}  // namespace assay::interpreter
