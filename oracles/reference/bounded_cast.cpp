#include <cmath>

#include "engine/check.h"
#include "oracles/reference/integers.h"
#include "oracles/reference/kernels.h"
#include "oracles/reference/settle.h"

namespace assay::reference {
namespace {

using uop::Int128;
using enum uop::DType;

// An integer as a pair, exactly: 64 bits are less than two doubles hold.
Bounded integer_to_float(DType to, Int128 value) {
  const auto high = static_cast<double>(value);
  const auto low = static_cast<double>(value - static_cast<Int128>(high));
  return rounded(format(to), {high, low});
}

Bounded float_to_bool(const Bounded& x) {
  if (x.is_exact()) return of_bool(x.value != 0);
  return may_be_zero(x) ? ambiguous() : of_bool(true);
}

Bounded float_to_integer(const Bounded& x, DType to) {
  const double low = std::trunc(lowest_of(x));
  const double high = std::trunc(highest_of(x));
  // Doubles hold the least integer and the one past the largest.
  const auto least = static_cast<double>(uop::min_int(to));
  const auto end = static_cast<double>(uop::max_int(to) + 1);
  if (!(low >= least && high < end)) return unspecified();
  return low == high ? integer_result(to, static_cast<Int128>(low)) : ambiguous();
}

bool holds_all(const Format& to, const Format& from) {
  return to.precision >= from.precision && to.tiny <= from.tiny && to.largest >= from.largest &&
         to.has_infinity >= from.has_infinity;
}

Bounded float_to_float(const Bounded& x, DType from, DType to) {
  const Format& f = format(to);
  if (is_nan(x)) return nan();
  if (is_inf(x)) return overflowed(f, is_negative(x));
  if (x.is_exact()) {
    Bounded r = rounded(f, {x.value, 0});
    r.loose_zero = x.loose_zero;
    return r;
  }
  const double ulps = holds_all(f, format(from)) ? 0 : 0.5;
  Bounded r = x;
  if (ulps > 0) {
    r = settle(f, pair_of(x), x.bound, ulps, certain_overflow(f),
               [&] { return fabsl(x.value) - x.bound * kSlack; });
  }
  r.nonnegative = x.nonnegative;
  return r;
}

Bounded converted(const Bounded& x, DType from, DType to) {
  if (!uop::is_float(from)) {
    const Int128 value = integer_of(from, x);
    if (uop::is_float(to)) return integer_to_float(to, value);
    return to == Bool ? of_bool(value != 0) : integer_result(to, value);
  }
  if (uop::is_float(to)) return float_to_float(x, from, to);
  return to == Bool ? float_to_bool(x) : float_to_integer(x, to);
}

// The bits of a finite number of f.
uint64_t encode(const Format& f, double x) {
  const int mantissa_bits = f.precision - 1;
  const double magnitude = std::fabs(x);
  const double unit = ulp(f, magnitude);
  const auto mantissa = static_cast<uint64_t>(magnitude / unit);
  // A normal number's first bit adds one to the code of its exponent.
  const auto steps = static_cast<uint64_t>(std::ilogb(unit) - std::ilogb(f.tiny));
  const uint64_t code = (steps << mantissa_bits) + mantissa;
  return code | static_cast<uint64_t>(std::signbit(x)) << (uop::bits_of(f.dtype) - 1);
}

}  // namespace

Bounded cast(const Bounded& x, DType from, DType to) {
  if (!x.is_known() || from == to) return x;
  return converted(x, from, to);
}

void cast(std::span<Bounded> out, std::span<const Bounded> x, DType from, DType to) {
  for (size_t i = 0; i < out.size(); i++) out[i] = cast(x[i], from, to);
}

Bounded of_integer(DType t, Int128 value) {
  if (uop::is_float(t)) return integer_to_float(t, value);
  return t == Bool ? of_bool(value != 0) : integer_result(t, value);
}

Bounded of_double(DType t, double value) {
  ASSAY_CHECK(uop::is_float(t), "{} is no float type", uop::to_text(t));
  if (std::isnan(value)) return nan();
  const Format& f = format(t);
  return std::isinf(value) ? overflowed(f, value < 0) : rounded(f, {value, 0});
}

Bounded from_bits(DType t, uint64_t bits) {
  if (!uop::is_float(t)) return integer_result(t, static_cast<int64_t>(bits));
  const Format& f = format(t);
  const int mantissa_bits = f.precision - 1;
  const int sign_bit = uop::bits_of(t) - 1;
  const uint64_t code = bits & ((uint64_t{1} << sign_bit) - 1);
  const bool negative = (bits >> sign_bit & 1) != 0;
  const uint64_t exponent = code >> mantissa_bits;
  const uint64_t mantissa = code & ((uint64_t{1} << mantissa_bits) - 1);
  const uint64_t top = (uint64_t{1} << (sign_bit - mantissa_bits)) - 1;
  const uint64_t ones = (uint64_t{1} << mantissa_bits) - 1;
  Bounded r;
  if (exponent == top && (f.has_infinity ? mantissa != 0 : mantissa == ones)) {
    r.value = std::copysign(kNan, negative ? -1.0 : 1.0);
    r.integer = static_cast<int64_t>(bits);
    r.loose_nan = false;
    return r;
  }
  if (f.has_infinity && exponent == top) return exact(negative ? -kInfinity : kInfinity);
  const uint64_t first = exponent == 0 ? 0 : uint64_t{1} << mantissa_bits;
  const int steps = exponent == 0 ? 0 : static_cast<int>(exponent) - 1;
  const double magnitude =
      std::ldexp(static_cast<double>(first | mantissa), steps + std::ilogb(f.tiny));
  return exact(negative ? -magnitude : magnitude);
}

std::optional<uint64_t> to_bits(const Bounded& x, DType t) {
  if (!x.is_exact()) return std::nullopt;
  const int unused = 64 - std::max(uop::bits_of(t), 1);
  if (!uop::is_float(t)) return static_cast<uint64_t>(x.integer) << unused >> unused;
  if (is_nan(x)) {
    if (x.loose_nan) return std::nullopt;
    return static_cast<uint64_t>(x.integer);
  }
  if (x.loose_zero) return std::nullopt;
  const Format& f = format(t);
  if (is_finite(x)) return encode(f, x.value);
  // An infinity is the code after the largest number.
  return encode(f, std::copysign(f.largest, x.value)) + 1;
}

Bounded bitcast(const Bounded& x, DType from, DType to) {
  if (!x.is_known() || from == to) return x;
  if (const std::optional<uint64_t> bits = to_bits(x, from)) return from_bits(to, *bits);
  return is_nan(x) ? unspecified() : ambiguous();
}

}  // namespace assay::reference
