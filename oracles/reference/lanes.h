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

// f(elements of a set) of every set, in order.
template <typename F>
std::vector<Bounded> folded(const std::vector<Bounded>& x, const Sets& sets, F f) {
  std::vector<Bounded> set(sets.inner.size());
  std::vector<Bounded> results;
  results.reserve(sets.outer.size());
  for (const int64_t begin : sets.outer) {
    for (size_t k = 0; k < set.size(); ++k) {
      set[k] = x[static_cast<size_t>(begin + sets.inner[k])];
    }
    results.push_back(f(std::span<const Bounded>(set)));
  }
  return results;
}

// The lanes of an array along an axis, each changed by f(lane, result), where the result has n
// elements. A value without axes is one lane of one element.
template <typename F>
Array by_lane(const Array& x, int64_t axis, int64_t n, DType dtype, F f) {
  const Dims from = x.shape.empty() ? Dims{1} : x.shape;
  Dims to = from;
  to[static_cast<size_t>(axis)] = n;
  const Sets in = sets_over(from, {axis});
  const Sets out = sets_over(to, {axis});
  std::vector<Bounded> lane(in.inner.size());
  std::vector<Bounded> result(out.inner.size());
  Array all{dtype, x.shape, std::vector<Bounded>(static_cast<size_t>(count(to)))};
  if (!x.shape.empty()) all.shape = to;
  for (size_t i = 0; i < in.outer.size(); ++i) {
    for (size_t k = 0; k < lane.size(); ++k) {
      lane[k] = x.elements[static_cast<size_t>(in.outer[i] + in.inner[k])];
    }
    f(std::span<const Bounded>(lane), std::span<Bounded>(result));
    for (size_t k = 0; k < result.size(); ++k) {
      all.elements[static_cast<size_t>(out.outer[i] + out.inner[k])] = result[k];
    }
  }
  return all;
}

}  // namespace assay::reference
