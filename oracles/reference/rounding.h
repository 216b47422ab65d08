#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/uop/dtype.h"
#include "oracles/reference/bounded.h"

// How numbers of a float type lie on the line, and numbers of twice a double's precision.
namespace assay::reference {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// What bounds are multiplied with, for the rounding of the few operations that they are made of.
inline constexpr double kSlack = 1 + 0x1p-48;
// Errors of our own, relative to a result: of one operation on doubles; of one on pairs of them; of
// a function of the C library, which is off by less than two units in its last place, and of such a
// function of long doubles.
inline constexpr double kDoubleError = 0x1p-52;
inline constexpr double kPairError = 0x1p-99;
inline constexpr double kLibraryError = 0x1p-51;
inline constexpr double kWideError = 0x1p-60;

constexpr double pow2(int exponent) {
  double result = 1;
  const double factor = exponent < 0 ? 0.5 : 2;
  for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--) result *= factor;
  return result;
}

struct Format {
  DType dtype;
  int precision;  // bits of a normal number's mantissa, the first one counted
  bool has_infinity;
  double epsilon;   // one unit in the last place of 1
  double tiny;      // the least number above 0, and the unit in the last place of all small ones
  double largest;   // finite
  double overflow;  // magnitudes from here on round to infinity, or NaN where there is none
  // What devices may do (licence.h); nothing where numbers are only moved and converted.
  double flush = 0;  // results below this in magnitude, and such operands, may be zeros
  bool contracts = false;
  std::array<double, kFnCount> limits = {};  // of functions, in units in the last place

  double limit(Fn fn) const { return limits[static_cast<size_t>(fn)]; }
};

constexpr Format make_format(DType t) {
  const uop::FloatFormat f = uop::format_of(t);
  Format r = {};
  r.dtype = t;
  r.precision = f.mantissa_bits + 1;
  r.has_infinity = f.has_infinity;
  r.epsilon = pow2(-f.mantissa_bits);
  r.tiny = pow2(f.min_exponent());
  // Without infinity the code above the largest number is NaN.
  r.largest = pow2(f.max_exponent()) * (2 - r.epsilon * (f.has_infinity ? 1 : 2));
  // No double lies above the largest but infinity.
  r.overflow = kInfinity;
  if (t == DType::F64) return r;
  const double half = pow2(f.max_exponent() - f.mantissa_bits - 1);
  // The tie above the largest number goes to the even neighbour: up, but in e4m3, whose largest
  // number ends in 0, down.
  r.overflow = r.largest + half + (f.has_infinity ? 0 : pow2(f.max_exponent() - 52));
  return r;
}

inline constexpr Format kFormats[] = {make_format(DType::E4M3), make_format(DType::E5M2),
                                      make_format(DType::F16),  make_format(DType::BF16),
                                      make_format(DType::F32),  make_format(DType::F64)};
constexpr int place_of(DType t) { return static_cast<int>(t) - static_cast<int>(DType::E4M3); }
constexpr const Format& format(DType t) { return kFormats[place_of(t)]; }

// The unit in the last place of numbers of this magnitude, which is not negative and finite.
inline double ulp(const Format& f, double magnitude) {
  const uint64_t exponent = std::bit_cast<uint64_t>(magnitude) & 0x7ff0000000000000;
  return std::max(std::bit_cast<double>(exponent) * f.epsilon, f.tiny);
}

// The multiple of the unit nearest to x, ties to even, as if exponents had no upper end.
inline double round_unbounded(const Format& f, double x) {
  if (f.precision == 53 || !std::isfinite(x)) return x;
  // Numbers around the magic one have exactly this unit in their last place.
  const double magic = ulp(f, std::fabs(x)) * 0x1.8p52;
  const double r = (x + magic) - magic;
  return std::copysign(r, x);
}

// Whether x is a finite number of the type.
inline bool is_number_of(const Format& f, double x) {
  return std::fabs(x) <= f.largest && round_unbounded(f, x) == x;
}

// hi + lo, with hi the double nearest to it.
struct Pair {
  double hi = 0;
  double lo = 0;
};

// a + b, exactly, where it does not overflow.
inline Pair two_sum(double a, double b) {
  const double s = a + b;
  const double v = s - a;
  return {s, (a - (s - v)) + (b - v)};
}
// The same where a is 0 or |a| >= |b|.
inline Pair fast_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}
// a * b, exactly, where it neither overflows nor comes near the least numbers.
inline Pair two_product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

// Within kPairError of (|x| + |y|), of the product.
inline Pair add(Pair x, Pair y) {
  Pair s = two_sum(x.hi, y.hi);
  if (!std::isfinite(s.hi)) return {s.hi, 0};
  const Pair t = two_sum(x.lo, y.lo);
  s = fast_two_sum(s.hi, s.lo + t.hi);
  return fast_two_sum(s.hi, s.lo + t.lo);
}
inline Pair multiply(Pair x, Pair y) {
  const Pair p = two_product(x.hi, y.hi);
  if (!std::isfinite(p.hi)) return {p.hi, 0};
  return fast_two_sum(p.hi, p.lo + (x.hi * y.lo + x.lo * y.hi));
}

// x, or where it lies between two doubles the odd one of them: rounded from there into a type of at
// most 50 bits it sees no tie where there is none.
inline double to_odd(Pair x) {
  if (x.lo == 0 || (std::bit_cast<uint64_t>(x.hi) & 1) != 0) return x.hi;
  return std::nextafter(x.hi, x.lo > 0 ? kInfinity : -kInfinity);
}

// All numbers between zero and the far end of value +- bound, on that side of zero.
inline Bounded from_zero_to(double value, double bound) {
  Bounded r;
  r.bound = std::nextafter((std::fabs(value) + bound) / 2, kInfinity);
  r.value = std::copysign(r.bound, value);
  r.certainty = Certainty::Bounded;
  r.nonnegative = value > 0;
  return r;
}

// What arithmetic may see of an operand, or give for a result: of what may be subnormal, where that
// may be flushed, all numbers from there to zero.
inline Bounded opened(const Format& f, const Bounded& x) {
  if (f.flush == 0 || !std::isfinite(x.value)) return x;
  const double nearest = std::fabs(x.value) - x.bound;
  return nearest <= 0 || nearest >= f.flush ? x : from_zero_to(x.value, x.bound);
}

inline Pair pair_of(const Bounded& x) { return {x.value, x.low}; }

}  // namespace assay::reference
