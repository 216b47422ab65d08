#pragma once

#include "oracles/reference/bounded.h"
#include "oracles/reference/rounding.h"

// From the exact result of an operation on floats to what is known of a device's.
namespace assay::reference {

inline Bounded exact(double value) {
  Bounded r;
  r.value = value;
  return r;
}
inline Bounded zero(bool negative) { return exact(negative ? -0.0 : 0.0); }
inline Bounded loose_zero() {
  Bounded r;
  r.loose_zero = true;
  return r;
}
inline Bounded nan() { return exact(kNan); }
// What lies past the range.
inline Bounded overflowed(const Format& f, bool negative) {
  return f.has_infinity ? exact(negative ? -kInfinity : kInfinity) : nan();
}
inline Bounded of_bool(bool claim) {
  Bounded r;
  r.integer = claim ? 1 : 0;
  return r;
}

inline bool is_nan(const Bounded& x) { return std::isnan(x.value); }
inline bool is_inf(const Bounded& x) { return std::isinf(x.value); }
inline bool is_finite(const Bounded& x) { return std::isfinite(x.value); }
inline bool is_zero(const Bounded& x) { return x.value == 0 && x.bound == 0; }

inline bool may_be_negative(const Bounded& x) {
  return !x.nonnegative && (x.value < x.bound || x.value < 0);
}
// Whether a result may be a zero: of x that is no NaN.
inline bool may_be_zero(const Bounded& x) { return std::fabs(x.value) <= x.bound * kSlack; }
// Whether all results have one sign, that of x.value.
inline bool has_sign(const Bounded& x) {
  if (is_nan(x)) return !x.loose_nan;
  return is_zero(x) ? !x.loose_zero : !may_be_zero(x);
}
inline bool is_negative(const Bounded& x) { return std::signbit(x.value); }

// A result within `spread` of v before it is rounded, by at most so many units in the last place.
inline Bounded within(const Format& f, Pair v, double spread, double ulps) {
  const bool is_pair = f.dtype == DType::F64;
  if (!is_pair) spread += std::fabs(v.lo);
  Bounded r;
  r.certainty = Certainty::Bounded;
  r.value = v.hi;
  r.low = is_pair ? v.lo : 0;
  // Among the least doubles halves of units vanish.
  r.bound = (spread + std::max(ulps * ulp(f, std::fabs(v.hi) + spread), 0x1p-1073)) * kSlack;
  return opened(f, r);
}

// The same where it may leave the range. From `certain` on it surely does; `least()` is a lower
// bound of the exact result's magnitude, asked for only when it matters.
template <typename Least>
Bounded settle(const Format& f, Pair v, double spread, double ulps, long double certain,
               Least least) {
  // A result that is rounded once is past the range when the exact one is past the tie.
  const double reach = ulps > 0.5 ? ulps * f.epsilon * f.largest : 0;
  const double top = (std::fabs(v.hi) + spread + std::fabs(v.lo)) * kSlack + reach;
  if (top < f.overflow) [[likely]]
    return within(f, v, spread, ulps);
  if (static_cast<long double>(least()) - reach >= certain) {
    return overflowed(f, std::signbit(v.hi));
  }
  return ambiguous();
}

// From where on in magnitude a result is surely past the range, whoever computes it.
inline long double certain_overflow(const Format& f) {
  return f.dtype == DType::F64 ? 0x1.000001p1024L : static_cast<long double>(f.overflow);
}
// From where on a product is so even if a finite number is added before it is rounded.
inline long double certain_product_overflow(const Format& f) {
  if (!f.contracts) return certain_overflow(f);
  return static_cast<long double>(f.largest) * 0x1.00001p1L;
}

// The exact number v, rounded once to nearest even.
inline Bounded rounded(const Format& f, Pair v) {
  const double x = f.dtype == DType::F64 ? v.hi : to_odd(v);
  if (std::fabs(x) >= f.overflow) return overflowed(f, std::signbit(x));
  const double r = round_unbounded(f, x);
  // What is flushed is subnormal before it is rounded, and leaves a zero of either sign.
  if (x == 0 || std::fabs(x) >= f.flush) return exact(r);
  return r == 0 ? loose_zero() : from_zero_to(r, 0);
}

}  // namespace assay::reference
