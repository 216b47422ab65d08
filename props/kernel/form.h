#pragma once

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/uop/dtype.h"

// Sums of atoms, and what is required of them.
namespace assay::props::kernel {

using uop::Int128;

// Beyond every value and every sum of values.
inline constexpr Int128 kInfinity = Int128{1} << 120;

// Rounded down; d is positive.
constexpr Int128 floor_div(Int128 n, Int128 d) {
  if (n == static_cast<int64_t>(n) && d == static_cast<int64_t>(d)) {
    const auto a = static_cast<int64_t>(n);
    const auto b = static_cast<int64_t>(d);
    return a / b - (a % b < 0 ? 1 : 0);
  }
  return n / d - (n % d < 0 ? 1 : 0);
}
constexpr Int128 ceil_div(Int128 n, Int128 d) { return -floor_div(-n, d); }

struct Interval {
  Int128 lo = 0;
  Int128 hi = 0;
  bool is_within(Int128 from, Int128 to) const { return from <= lo && hi <= to; }
};

// constant + a sum of coefficient * atom, over exact integers. Atoms (terms.h) are in rising order,
// and no coefficient is 0.
struct Form {
  struct Term {
    int32_t atom;
    Int128 times;
    auto operator<=>(const Term&) const = default;
  };
  Int128 constant = 0;
  std::vector<Term> terms;

  bool is_constant() const { return terms.empty(); }
  auto operator<=>(const Form&) const = default;
};

inline Form number_form(Int128 n) { return {n, {}}; }
inline Form atom_form(int32_t atom) { return {0, {{atom, 1}}}; }
// a + times * b
Form sum(const Form& a, const Form& b, Int128 times = 1);
Form scaled(const Form& a, Int128 times);

// lo <= form <= hi
struct Within {
  Form form;
  Int128 lo = 0;
  Int128 hi = 0;
};
// All of these hold.
using Case = std::vector<Within>;
// One of these cases does: {} is false, {{}} is true.
using Cases = std::vector<Case>;

inline Within at_least(const Form& a, Int128 n) { return {a, n, kInfinity}; }
inline Within at_most(const Form& a, Int128 n) { return {a, -kInfinity, n}; }
inline Within equal_to(const Form& a, Int128 n) { return {a, n, n}; }

}  // namespace assay::props::kernel
