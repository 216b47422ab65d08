#pragma once

#include <cstdint>
#include <span>

#include <Eigen/Core>

#include "oracles/reference/bounded.h"

namespace assay::reference {

// The elements of an array in row-major order. Sizes and places are signed, as Eigen's are; x(at)
// are the elements at a span of places, and Elements::Constant and NullaryExpr make new ones.
using Elements = Eigen::Array<Bounded, Eigen::Dynamic, 1>;

// Elements that stand evenly apart in others: a lane along an axis, a row or a column of a matrix.
using Lane = Eigen::Map<Elements, Eigen::Unaligned, Eigen::InnerStride<>>;
using ConstLane = Eigen::Map<const Elements, Eigen::Unaligned, Eigen::InnerStride<>>;

inline ConstLane lane_of(const Elements& x, int64_t first, int64_t n, int64_t stride) {
  return {x.data() + first, n, Eigen::InnerStride<>(stride)};
}
inline Lane lane_of(Elements& x, int64_t first, int64_t n, int64_t stride) {
  return {x.data() + first, n, Eigen::InnerStride<>(stride)};
}

// What functions of bounded.h are given, and a span of theirs as elements. Neither copies.
inline std::span<const Bounded> span_of(const Elements& x) {
  return {x.data(), static_cast<size_t>(x.size())};
}
inline std::span<Bounded> span_of(Elements& x) { return {x.data(), static_cast<size_t>(x.size())}; }
inline Eigen::Map<const Elements> mapped(std::span<const Bounded> x) {
  return {x.data(), std::ssize(x)};
}
inline Eigen::Map<Elements> mapped(std::span<Bounded> x) { return {x.data(), std::ssize(x)}; }

// The elements at another type.
inline Elements cast(const Elements& x, DType from, DType to) {
  if (from == to) return x;
  Elements result(x.size());
  cast(span_of(result), span_of(x), from, to);
  return result;
}

}  // namespace assay::reference
