#include "oracles/reference/extreme.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "oracles/reference/scalar.h"

namespace assay::reference {
namespace {

using uop::Int128;

constexpr Int128 kNanPlace = Int128{1} << 100;

// A number as an integer that orders as it does; both zeros are 0.
Int128 key(double x) {
  const auto bits = std::bit_cast<int64_t>(std::abs(x));
  return x < 0 ? -Int128{bits} : Int128{bits};
}

double number_of(Int128 key) {
  const auto bits = static_cast<int64_t>(key < 0 ? -key : key);
  return key < 0 ? -std::bit_cast<double>(bits) : std::bit_cast<double>(bits);
}

// Between which keys an element lies.
struct Ends {
  Int128 lo;
  Int128 hi;
  bool is_point() const { return lo == hi; }
};

Ends ends_of(DType t, const Bounded& x, Int128 nan) {
  if (t == uop::U64) {
    const auto n = static_cast<Int128>(static_cast<uint64_t>(x.integer));
    return {n, n};
  }
  if (!uop::is_float(t)) return {x.integer, x.integer};
  if (std::isnan(x.value)) return {nan, nan};
  if (x.is_exact() || std::isinf(x.value)) return {key(x.value), key(x.value)};
  return {key(lowest_of(x)), key(highest_of(x))};
}

std::vector<Ends> ends_of(DType t, std::span<const Bounded> x, Int128 nan) {
  std::vector<Ends> ends;
  ends.reserve(x.size());
  for (const Bounded& v : x) ends.push_back(ends_of(t, v, nan));
  return ends;
}

// An element that is not known makes all of its lane unknown.
const Bounded* unknown_among(std::span<const Bounded> x) {
  const Bounded* found = nullptr;
  for (const Bounded& v : x) {
    if (v.is_known()) continue;
    if (v.certainty == Certainty::Unspecified) return &v;
    found = &v;
  }
  return found;
}

// The largest upper end seen, of elements that are exactly there and of those that need not be.
struct Reach {
  Int128 points = -(Int128{1} << 120);
  Int128 others = -(Int128{1} << 120);

  void add(const Ends& e) {
    Int128& most = e.is_point() ? points : others;
    most = std::max(most, e.hi);
  }
  // Whether all seen come before e in the order: equal ones do where both are points.
  bool is_before(const Ends& e) const {
    return others < e.lo && (e.is_point() ? points <= e.lo : points < e.lo);
  }
};

Ends mirrored(const Ends& e) { return {-e.hi, -e.lo}; }

// Which elements of a list, ordered by their middles, must stand where they do.
std::vector<bool> certain_places(const std::vector<Ends>& ordered) {
  std::vector<bool> certain(ordered.size(), true);
  Reach before;
  for (size_t i = 0; i < ordered.size(); ++i) {
    certain[i] = before.is_before(ordered[i]);
    before.add(ordered[i]);
  }
  Reach after;
  for (size_t i = ordered.size(); i-- > 0;) {
    certain[i] = certain[i] && after.is_before(mirrored(ordered[i]));
    after.add(mirrored(ordered[i]));
  }
  return certain;
}

// What has one of two keys or one between them.
Bounded ranked(DType t, Int128 lo, Int128 hi) {
  const double low = number_of(lo);
  const double high = number_of(hi);
  if (!std::isfinite(low) || !std::isfinite(high)) return ambiguous();
  return between(t, low, high);
}

Bounded place(size_t i) { return of_integer(uop::I32, static_cast<Int128>(i)); }

}  // namespace

Bounded place_of_extreme(DType t, std::span<const Bounded> x, bool largest, bool last) {
  if (const Bounded* unknown = unknown_among(x)) return *unknown;
  std::vector<Ends> ends = ends_of(t, x, largest ? kNanPlace : -kNanPlace);
  if (!largest) {
    for (Ends& e : ends) e = mirrored(e);
  }
  size_t best = 0;
  for (size_t i = 1; i < ends.size(); ++i) {
    const bool is_more = last ? ends[i].lo >= ends[best].lo : ends[i].lo > ends[best].lo;
    if (is_more) best = i;
  }
  // Equal points were told apart by their position; every other one must be less.
  for (size_t i = 0; i < ends.size(); ++i) {
    const bool is_tie = ends[i].is_point() && ends[best].is_point() && ends[i].hi == ends[best].lo;
    if (i != best && !is_tie && ends[i].hi >= ends[best].lo) return ambiguous();
  }
  return place(best);
}

Sorted sorted(DType t, std::span<const Bounded> x, bool descending) {
  const size_t n = x.size();
  if (const Bounded* unknown = unknown_among(x)) {
    const Elements all = Elements::Constant(std::ssize(x), *unknown);
    return {all, all};
  }
  std::vector<Ends> ends = ends_of(t, x, kNanPlace);
  if (descending) {
    for (Ends& e : ends) e = mirrored(e);
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Int128 x_middle = ends[a].lo + ends[a].hi;
    const Int128 y_middle = ends[b].lo + ends[b].hi;
    return std::pair(x_middle, a) < std::pair(y_middle, b);
  });
  std::vector<Ends> ordered;
  for (const size_t i : order) ordered.push_back(ends[i]);
  const std::vector<bool> certain = certain_places(ordered);
  // Of rank i is a value between the i-th least lower and the i-th least upper end.
  std::vector<Int128> lows;
  std::vector<Int128> highs;
  for (const Ends& e : ends) {
    lows.push_back(descending ? -e.hi : e.lo);
    highs.push_back(descending ? -e.lo : e.hi);
  }
  std::sort(lows.begin(), lows.end());
  std::sort(highs.begin(), highs.end());
  Sorted result{Elements(std::ssize(x)), Elements(std::ssize(x))};
  for (size_t i = 0; i < n; ++i) {
    const size_t rank = descending ? n - 1 - i : i;
    const auto k = static_cast<int64_t>(i);
    result.places[k] = certain[i] ? place(order[i]) : ambiguous();
    result.values[k] = certain[i] ? x[order[i]] : ranked(t, lows[rank], highs[rank]);
  }
  return result;
}

}  // namespace assay::reference
