// log, log2 and pow. With s = (m - 1) / (m + 1), log(m) = 2 s + 2/3 s^3 + …; s is held as a pair.
#include <limits>
#include <optional>

#include "engine/codegen/transcendental_parts.h"

namespace assay::codegen {
namespace {

using uop::F32;
using uop::Op;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct LogConstants {
  double root_half;  // sqrt(0.5), rounded
  double scale;      // 2^(mantissa bits + 1)
  double ln2[2];     // log(2), and below 1 / log(2) and 2/3, in two parts
  double log2_e[2];
  double two_thirds[2];
  std::span<const double> series;   // (log(m) - 2 s) / s^3 in powers of s^2, |s| <= 0.1718
  std::span<const double> precise;  // the same, more of it, with 2/3 in front
};

// log(m) is off by less than 2^-33 and 2^-66.5 of it; by the precise series 2^-33 and 2^-67.
constexpr double kSeriesF32[] = {0x1.555554p-1, 0x1.999bd2p-2, 0x1.23f252p-2, 0x1.ec004ep-3};
constexpr double kSeriesF64[] = {
    0x1.5555555555555p-1, 0x1.9999999999d13p-2, 0x1.24924924392b1p-2, 0x1.c71c724bf7d04p-3,
    0x1.745ce18f893fdp-3, 0x1.3b202ffef0647p-3, 0x1.0f66202bf9482p-3, 0x1.0f193397904f3p-3,
};
constexpr double kPreciseF64[] = {
    0x1.5555555555555p-1, 0x1.9999999999bcap-2, 0x1.24924924679a5p-2,
    0x1.c71c71fbad3d2p-3, 0x1.745d04ee1df85p-3, 0x1.3b17759700a61p-3,
    0x1.109ef58224bd9p-3, 0x1.efbe544032231p-4, 0x1.6bced7e6a77a3p-4,
};

const LogConstants& log_constants(uop::DType t) {
  static constexpr LogConstants kF32 = {0x1.6a09e6p-1,
                                        0x1p24,
                                        {0x1.62e43p-1, -0x1.05c61p-29},
                                        {0x1.715476p0, 0x1.4ae0cp-26},
                                        {0x1.555556p-1, -0x1.555556p-26},
                                        kSeriesF32,
                                        kSeriesF32};
  static constexpr LogConstants kF64 = {0x1.6a09e667f3bcdp-1,
                                        0x1p53,
                                        {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56},
                                        {0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56},
                                        {0x1.5555555555555p-1, 0x1.5555555555555p-55},
                                        kSeriesF64,
                                        kPreciseF64};
  return t == F32 ? kF32 : kF64;
}

// x = m * 2^exponent with m from sqrt(0.5) to sqrt(2), for positive finite x; something finite for
// any other.
struct LogParts {
  Term m;
  Term exponent;  // a float
};

LogParts split(Term x) {
  const Format f = format(x.type());
  const LogConstants& c = log_constants(x.type());
  const uop::DType i = signed_of(x.type());
  const Term least = x.number(f.mantissa_bits == 23 ? 0x1p-126 : 0x1p-1022);
  const Term tiny = x < least;
  const Term normal = where(tiny, x * c.scale, x);
  const Term start = bits_as(x.number(c.root_half), i);
  const Term above = bits_as(normal, i) - start;
  const Term mask = start.integer((int64_t{1} << f.mantissa_bits) - 1);
  const Term fraction = above & mask;
  const Term m = bits_as(fraction + start, x.type());
  const Term exponent = cast(above >> f.mantissa_bits, x.type());
  return {m, where(tiny, exponent - (f.mantissa_bits + 1), exponent)};
}

// (m - 1) / (m + 1), right in both parts however roughly the device divides.
Pair ratio(Term m) {
  const Term f = m - 1;
  const Term d = m + 1;
  const Term d_low = m - (d - 1);
  const Term inverse = d.make(Op::Recip);
  const Term s = f * inverse;
  const Term minus = -s;
  const Term left = fma(minus, d, f);
  return {s, fma(minus, d_low, left) * inverse};
}

// log(m), off by less than 2^-28 of it at f32 and 2^-57 at f64.
Pair log_of(Term m) {
  const Pair s = ratio(m);
  const Term z = s.hi * s.hi;
  const Term tail = polynomial(z, log_constants(m.type()).series);
  const Term cube = s.hi * z;
  const Term low = fma(cube, tail, s.lo * 2);
  return quick_sum(s.hi * 2, low);
}

// log(m), off by less than 2^-40 of it at f32 and 2^-63 at f64: the term of s^3 is a pair too.
Pair precise_log_of(Term m) {
  const LogConstants& c = log_constants(m.type());
  const Pair s = ratio(m);
  const Pair z = product(s, s);
  const Term tail = polynomial(z.hi, c.precise.subspan(1)) * z.hi;
  const Pair first = pair_of(m, c.two_thirds[0], c.two_thirds[1]);
  const Pair sum = quick_sum(first.hi, tail);
  const Pair factor = {sum.hi, sum.lo + first.lo};
  const Pair cube = product(s, z);
  const Pair rest = product(cube, factor);
  const Pair twice = quick_sum(s.hi * 2, rest.hi);
  const Term low = twice.lo + rest.lo;
  return quick_sum(twice.hi, fma(s.lo, 2, low));
}

// log2 of m * 2^exponent from log(m).
Pair to_log2(Pair log_m, Term exponent) {
  const LogConstants& c = log_constants(exponent.type());
  const Pair scaled = product(log_m, pair_of(exponent, c.log2_e[0], c.log2_e[1]));
  const Pair sum = exact_sum(exponent, scaled.hi);
  return quick_sum(sum.hi, sum.lo + scaled.lo);
}

// `value` for positive finite x, and what every logarithm is for the others.
Term with_ends(Term x, Term value) {
  const Term finite = where(x < kInfinity, value, x);
  const Term is_zero = x == 0;
  const Term rest = where(is_zero, x.number(-kInfinity), kNaN);
  return where(x > 0, finite, rest);
}

// Whether y is a whole number, and an odd one.
struct Parity {
  Term whole;
  Term odd;
};

Parity parity(Term y) {
  const Term whole = y.make(Op::Trunc) == y;
  const Term half = y * 0.5;
  const Term fraction = half.make(Op::Trunc) != half;
  return {whole, whole & fraction};
}

// |x|^y, but for NaNs.
Term magnitude(Term x, Term y) {
  const LogParts s = split(x);
  const Pair l = to_log2(precise_log_of(s.m), s.exponent);
  const Pair z = exact_product(y, l.hi);
  const Term value = exp2(Pair{z.hi, fma(y, l.lo, z.lo)});
  const Term is_zero = x == 0;
  const Term down = y < 0;
  const Term shrinks = is_zero != down;
  const Term end = where(shrinks, x.number(0), kInfinity);
  const Term at_end = is_zero | (x == kInfinity);
  const Term any = where(at_end, end, value);
  return where(x == 1, 1, any);
}

}  // namespace

Term log(Term x) {
  const LogConstants& c = log_constants(x.type());
  const LogParts s = split(x);
  const Pair l = log_of(s.m);
  const Term high = fma(s.exponent, c.ln2[0], l.hi);
  return with_ends(x, high + fma(s.exponent, c.ln2[1], l.lo));
}

Term log2(Term x) {
  const LogParts s = split(x);
  const Pair l = to_log2(log_of(s.m), s.exponent);
  return with_ends(x, l.hi + l.lo);
}

namespace {

// Powers that products give, each rounded at most twice on the way.
std::optional<Term> power_by_products(Term x, Term y) {
  if (!uop::is_const(y.u)) return std::nullopt;
  const double n = as_double(y.u->value());
  if (n == 1) return x;
  if (n == -1) {
    // 1 to any power is 1, which a device's 1 / 1 need not be.
    const Term is_one = x == 1;
    const Term inverse = x.make(Op::Recip);
    return where(is_one, 1, inverse);
  }
  if (n != 2 && n != 3 && n != 4) return std::nullopt;
  const Term square = x * x;
  if (n == 2) return square;
  return square * (n == 3 ? x : square);
}

}  // namespace

// C99, F.9.4.4.
Term pow(Term x, Term y) {
  if (const auto power = power_by_products(x, y)) return *power;
  const uop::DType i = signed_of(x.type());
  const Term bits = bits_as(x, i);
  const Term size = bits_as(bits & bits.integer(static_cast<int64_t>(uop::max_int(i))), x.type());
  const Parity p = parity(y);
  const Term m = magnitude(size, y);
  const Term flips = p.odd & (bits < 0);
  const Term with_sign = where(flips, -m, m);
  const Term finite = size < kInfinity;
  const Term negative = finite & (x < 0);
  const Term undefined = negative & !p.whole;
  const Term x_is_nan = x != x;
  const Term is_nan = x_is_nan | (y != y);
  const Term number = where(undefined | is_nan, kNaN, with_sign);
  const Term is_one = x == 1;
  return where(is_one | (y == 0), 1, number);
}

}  // namespace assay::codegen
