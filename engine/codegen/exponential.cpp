// exp and exp2: the nearest power of two, and a polynomial for what is left.
#include <cmath>

#include "engine/codegen/transcendental_parts.h"

namespace assay::codegen {
namespace {

using uop::F32;

constexpr double kLog2E = 0x1.71547652b82fep0;

// The upper and the lower part of log(2).
constexpr double kLn2F32[] = {0x1.62e43p-1, -0x1.05c61p-29};
constexpr double kLn2F64[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// 2^f for |f| <= 0.501, off by less than 2^-27 and 2^-59 of it.
constexpr double kExp2F32[] = {0x1p0,        0x1.62e43p-1,   0x1.ebfbd8p-3, 0x1.c6af72p-5,
                               0x1.3b309p-7, 0x1.5f0e12p-10, 0x1.3fb5f2p-13};
constexpr double kExp2F64[] = {
    0x1p0,
    0x1.62e42fefa39efp-1,
    0x1.ebfbdff82c58dp-3,
    0x1.c6b08d704a181p-5,
    0x1.3b2ab6fba53afp-7,
    0x1.5d87fe788922p-10,
    0x1.430912f705b0ap-13,
    0x1.ffcbfcd9ab098p-17,
    0x1.62c0279e47b6ep-20,
    0x1.b524267429059p-24,
    0x1.e4bc2d228aab1p-28,
    0x1.eaf85db7df2d3p-32,
    0x1.dd9b9756fcd12p-36,
};

// (e^r - 1 - r) / r^2 for |r| <= 0.35; e^r is off by less than 2^-28 and 2^-63.
constexpr double kExpF32[] = {0x1.fffffap-2, 0x1.55548ap-3, 0x1.555a12p-5, 0x1.123f78p-7,
                              0x1.696e34p-10};
constexpr double kExpF64[] = {
    0x1p-1,
    0x1.555555555555cp-3,
    0x1.555555555553cp-5,
    0x1.111111110e957p-7,
    0x1.6c16c16c21c0bp-10,
    0x1.a01a01b4ad2a9p-13,
    0x1.a01a016d6e24dp-16,
    0x1.71dded2503cc2p-19,
    0x1.27e55268ac3bep-22,
    0x1.af71256d6a673p-26,
    0x1.1ec293f30693cp-29,
};

template <typename T>
T by_type(uop::DType t, T f32, T f64) {
  return t == F32 ? f32 : f64;
}

std::span<const double> pick(uop::DType t, std::span<const double> f32,
                             std::span<const double> f64) {
  return by_type(t, f32, f64);
}

// x within what e^(x / unit) is neither 0 nor infinity for, and a little more; NaN stays.
Term clamped(Term x, double unit) {
  const Format f = format(x.type());
  const double least = -(f.bias + f.mantissa_bits + 2) * unit;
  const double most = (f.bias + 2) * unit;
  const Term above = where(x < least, least, x);
  return where(above > most, most, above);
}

// p * 2^k. Two factors, so that neither leaves the normal exponents, and only the last product
// rounds.
Term scaled(Term p, Term k) {
  const Term half = k >> 1;
  const Term rest = k - half;
  const Term first = power_of_two(half, p.type());
  const Term part = p * first;
  return part * power_of_two(rest, p.type());
}

Term exp2_of(Term x, Term extra, bool has_extra) {
  const Term z = clamped(x, 1);
  const Whole k = nearest(z, 1);
  const Term f = z - k.number;
  const Term whole = has_extra ? f + extra : f;
  return scaled(polynomial(whole, pick(x.type(), kExp2F32, kExp2F64)), k.integer);
}

}  // namespace

Term exp2(Term x) { return exp2_of(x, x, false); }

Term exp2(Pair z) {
  // Past the exponents z.lo may be no number, and says nothing.
  const double end = 2.0 * format(z.hi.type()).bias;
  const Term below = z.hi < end;
  const Term above = z.hi > -end;
  const Term inside = below & above;
  return exp2_of(z.hi, where(inside, z.lo, 0), true);
}

Term exp(Term x) {
  const uop::DType t = x.type();
  const auto ln2 = pick(t, kLn2F32, kLn2F64);
  const Term z = clamped(x, 0.6931471805599453);
  const Whole k = nearest(z, kLog2E);
  // The first step is exact: the result is a multiple of the last bit of ln2[0], and small.
  const Term part = fma(k.number, -ln2[0], z);
  const Term r = fma(k.number, -ln2[1], part);
  const Term tail = polynomial(r, pick(t, kExpF32, kExpF64));
  const Term square = r * r;
  return scaled(fma(square, tail, r) + 1, k.integer);
}

}  // namespace assay::codegen
