#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "oracles/reference/array.h"

namespace assay::reference {

// The sets of elements that some axes gather: each begins at a place of `outer`, and its elements
// stand at those of `inner` from there, in row-major order.
struct Sets {
  std::vector<int64_t> outer;
  std::vector<int64_t> inner;
};

// The sets over these axes of a shape.
inline Sets sets_over(const Dims& shape, const std::vector<int64_t>& axes) {
  const std::vector<Axis> all = axes_of(shape);
  std::vector<bool> over(shape.size());
  for (const int64_t axis : axes) over[static_cast<size_t>(axis)] = true;
  std::vector<Axis> outer;
  std::vector<Axis> inner;
  for (size_t i = 0; i < all.size(); ++i) (over[i] ? inner : outer).push_back(all[i]);
  return {places(outer), places(inner)};
}

// The elements of the set that begins at a place; not of none.
template <typename X>
auto set_at(X& x, const Sets& sets, int64_t begin) {
  return x.tail(x.size() - begin)(std::span(sets.inner));
}

// f(elements of a set) of every set, in order.
template <typename F>
Elements folded(const Elements& x, const Sets& sets, F f) {
  const auto n = std::ssize(sets.outer);
  if (sets.inner.empty()) return Elements::NullaryExpr(n, [&](int64_t) { return f({}); });
  Elements set(std::ssize(sets.inner));
  return Elements::NullaryExpr(n, [&](int64_t i) {
    set = set_at(x, sets, sets.outer[static_cast<size_t>(i)]);
    return f(span_of(std::as_const(set)));
  });
}

// The lanes of an array along an axis, each changed by f(lane, result), where the result has n
// elements, none if the lane has none. A value without axes is one lane of one element.
template <typename F>
Array by_lane(const Array& x, int64_t axis, int64_t n, DType dtype, F f) {
  Dims shape = x.shape.empty() ? Dims{1} : x.shape;
  const int64_t from = std::exchange(shape[static_cast<size_t>(axis)], 1);
  const int64_t lanes = count(shape);
  const int64_t stride = strides_of(shape)[static_cast<size_t>(axis)];
  shape[static_cast<size_t>(axis)] = n;
  Array all{dtype, x.shape.empty() ? Dims() : shape, Elements(lanes * n)};
  if (n == 0) return all;
  Elements lane(from);
  Elements result(n);
  for (int64_t i = 0; i < lanes; ++i) {
    const int64_t before = i / stride * stride;
    lane = lane_of(x.elements, before * from + i % stride, from, stride);
    f(span_of(std::as_const(lane)), span_of(result));
    lane_of(all.elements, before * n + i % stride, n, stride) = result;
  }
  return all;
}

}  // namespace assay::reference
