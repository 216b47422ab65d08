#include "engine/codegen/small_float.h"

#include <cmath>

namespace assay::codegen {
namespace {

using uop::BF16;
using uop::DType;
using uop::F32;
using uop::F64;
using uop::FloatFormat;
using uop::format_of;
using uop::I32;
using uop::U32;

constexpr double kSign = 0x80000000;
constexpr double kInfinityBits = 0x7F800000;

uint32_t bits_of_f32(double x) { return static_cast<uint32_t>(uop::of_double(F32, x).bits); }

Term magnitude(Term x) { return bits_as(x, U32) & 0x7FFFFFFF; }
Term as_f32(Term bits) { return bits_as(bits, F32); }

// The least magnitude that rounds past the largest number of t, as f32 bits.
uint32_t overflow(DType t) {
  const FloatFormat f = format_of(t);
  // e4m3's largest is even, so that half a unit above it is rounded down; one bit more is not.
  const double top = std::ldexp(1.0, f.max_exponent() + 1);
  const double unit = std::ldexp(1.0, f.max_exponent() - f.mantissa_bits);
  if (f.has_infinity) return bits_of_f32(top - unit / 2);
  return bits_of_f32(top - 2 * unit + unit / 2) + 1;
}

double least_normal(DType t) { return std::ldexp(1.0, 1 - format_of(t).bias()); }

// What beyond the largest number there is: infinity, in e4m3 NaN.
uint32_t beyond(DType t) {
  const FloatFormat f = format_of(t);
  const uint32_t ones = (1U << (uop::bits_of(t) - 1)) - 1;
  return f.has_infinity ? ones ^ ((1U << f.mantissa_bits) - 1) : ones;
}

// bits rounded to a multiple of 2^shift, ties to even; the lowest bits are left as they come.
Term rounded_up(Term bits, int shift) {
  const Term odd = (bits >> shift) & 1;
  return bits + odd + (std::ldexp(1.0, shift - 1) - 1);
}

// A bf16 is the upper half of an f32.
Term rounded_bf16(Term x) {
  const Term bits = rounded_up(bits_as(x, U32), 16) & 0xFFFF0000;
  return where(x == x, bits, 0x7FC00000);
}

// To odd: where something was lost, the neighbour whose last bit is set. `lost` is what is missing,
// of any magnitude.
Term to_odd(Term x, Term lost) {
  const Term bits = bits_as(x, I32);
  const Term above = lost > 0;
  const Term below = lost < 0;
  const Term even = (bits & 1) == 0;
  const Term inexact = even & (above | below);
  const Term away = above ^ (bits < 0);
  const Term step = where(away, bits.integer(1), -1);
  return bits_as(where(inexact, bits + step, bits), F32);
}

// An integer whose bits below `shift` are gone, the bit there set if any of them was.
Term sticky(Term x, int shift) {
  const Term rest = x & x.integer((int64_t{1} << shift) - 1);
  const Term mark = x.integer(int64_t{1} << shift);
  const Term marked = (x ^ rest) | mark;
  return where(rest != 0, marked, x);
}

// An integer with at most 24 bits that rounds to bf16 as x does. The 10 leading bits are left
// alone.
Term shortened(Term x) {
  const bool is_signed = uop::kind_of(x.type()) == uop::Kind::Signed;
  struct Shortening {
    int from;  // x has more bits than this
    int shift;
  };
  static constexpr Shortening kShortenings[] = {{24, 13}, {37, 26}, {50, 40}};
  Term result = x;
  for (const Shortening& s : kShortenings) {
    if (s.from >= uop::bits_of(x.type())) break;
    const Term end = x.integer(int64_t{1} << s.from);
    const Term above = x > end;
    const Term outside = is_signed ? above | (x < x.integer(-(int64_t{1} << s.from))) : above;
    result = where(outside, sticky(x, s.shift), result);
  }
  return result;
}

}  // namespace

Term encoded(Term x, DType t) {
  if (t == BF16) return bits_as(rounded_bf16(x), U32) >> 16;
  const FloatFormat f = format_of(t);
  const int shift = 23 - f.mantissa_bits;
  const Term bits = bits_as(x, U32);
  const Term a = bits & 0x7FFFFFFF;
  const Term normal =
      (rounded_up(a, shift) >> shift) - (static_cast<double>((127 - f.bias()) << f.mantissa_bits));
  // The last bit of a number from `ruler` on counts for t's least subnormal.
  const double ruler = std::ldexp(1.0, f.min_exponent() + 23);
  const Term subnormal = bits_as(as_f32(a) + ruler, U32) - bits_of_f32(ruler);
  const Term is_normal = a > (bits_of_f32(least_normal(t)) - 1.0);
  const Term finite = where(is_normal, normal, subnormal);
  const Term over = a > (overflow(t) - 1.0);
  const Term number = where(over, beyond(t), finite);
  const Term value = where(a > kInfinityBits, static_cast<double>(nan_of(t).bits), number);
  const Term sign = (bits & kSign) >> (32 - uop::bits_of(t));
  return value | sign;
}

Term decoded(Term code, DType t) {
  const Term bits = cast(code, U32);
  if (t == BF16) return as_f32(bits << 16);
  const FloatFormat f = format_of(t);
  const int shift = 23 - f.mantissa_bits;
  const int width = uop::bits_of(t);
  const Term a = bits & ((1 << (width - 1)) - 1.0);
  const Term wide = a << shift;
  const Term normal = wide + static_cast<double>((127 - f.bias()) << 23);
  // As if the first bit stood before the point, which is then taken off.
  const double first = least_normal(t);
  const Term subnormal = bits_as(as_f32(wide + bits_of_f32(first)) - first, U32);
  const Term is_normal = a > (std::ldexp(1.0, f.mantissa_bits) - 1);
  const Term finite = where(is_normal, normal, subnormal);
  const Term special = a > (beyond(t) - 1.0);
  const Term value =
      where(special, f.has_infinity ? wide | kInfinityBits : wide.integer(0x7FC00000), finite);
  const Term sign = (bits << (32 - width)) & kSign;
  return as_f32(value | sign);
}

// Adding and taking off a power of two whose last bit counts as much as that of x at t.
Term rounded(Term x, DType t) {
  if (t == BF16) return as_f32(rounded_bf16(x));
  const FloatFormat f = format_of(t);
  const Term a = magnitude(x);
  const Term exponent = a & kInfinityBits;
  const double least = bits_of_f32(least_normal(t));
  const Term power = where(exponent < least, least, exponent);
  const Term ruler = as_f32(power + static_cast<double>((23 - f.mantissa_bits) << 23));
  const Term finite = bits_as((as_f32(a) + ruler) - ruler, U32);
  const double end = f.has_infinity ? kInfinityBits : 0x7FC00000;
  const Term number = where(a > (overflow(t) - 1.0), end, finite);
  const Term sign = bits_as(x, U32) & kSign;
  const Term value = as_f32(number | sign);
  return where(x == x, value, x);
}

Term narrowed(Term x, DType t) {
  if (x.type() == F64) {
    const Term near = cast(x, F32);
    const Term lost = x - cast(near, F64);
    return to_odd(near, lost);
  }
  // Only bf16 has numbers past 2^24, below which f32 holds all integers.
  if (t != BF16 || !uop::is_fixed_int(x.type()) || uop::bits_of(x.type()) <= 16) {
    return cast(x, F32);
  }
  return cast(shortened(x), F32);
}

Term narrow_fma(Term a, Term b, Term c, DType t) {
  if (t != BF16) {
    // The product is exact, and so is what the sum loses.
    const Term p = a * b;
    const Term sum = p + c;
    const Term c_part = sum - p;
    const Term p_part = sum - c_part;
    const Term p_lost = p - p_part;
    return to_odd(sum, (c - c_part) + p_lost);
  }
  // The greater of the product and c, less the sum, is exact, once what is small is made larger.
  const Term sum = fma(a, b, c);
  const Term is_small = as_f32(magnitude(sum)) < 0x1p-60;
  const Term scale = where(is_small, a.number(0x1p64), 1);
  const Term sa = a * scale;
  const Term sc = c * scale;
  const Term rest = -(sum * scale);
  const Term product = as_f32(magnitude(sa * b));
  const Term by_product = fma(sa, b, rest) + sc;
  const Term by_c = fma(sa, b, sc + rest);
  const Term c_size = as_f32(magnitude(sc));
  return to_odd(sum, where(product < c_size, by_c, by_product));
}

}  // namespace assay::codegen
