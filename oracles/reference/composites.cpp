#include "oracles/reference/composites.h"

#include <cmath>
#include <iterator>
#include <optional>

namespace assay::reference {
namespace {

constexpr double kHalfPi = 1.5707963267948966;
constexpr double kSqrt2 = 1.4142135623730951;
constexpr double kSqrt2OverPi = 0.7978845608028654;
constexpr double kLog10Of2 = 0.3010299956639812;

// c[0] * x^n + … + c[n], by Horner's rule.
template <size_t N>
Bounded polynomial(const At& at, const Bounded& x, const double (&c)[N]) {
  Bounded p = at.number(c[0]);
  for (size_t i = 1; i < N; ++i) p = at.add(at.mul(p, x), at.number(c[i]));
  return p;
}

// The sum and the difference of a number and x.
Bounded more(const At& at, double c, const Bounded& x) { return at.add(at.number(c), x); }
Bounded less(const At& at, double c, const Bounded& x) { return at.sub(at.number(c), x); }
Bounded times(const At& at, double c, const Bounded& x) { return at.mul(at.number(c), x); }
Bounded halved(const At& at, const Bounded& x) { return at.div(x, at.number(2)); }

// Of an odd function, a magnitude m with the sign of x, where that sign is open: the result is as
// small as m is there, of either sign. Nothing where it is not.
std::optional<Bounded> of_either_sign(const Bounded& m, const Bounded& x) {
  const bool is_open = x.certainty == Certainty::Bounded && std::fabs(x.value) <= x.bound;
  if (!is_open || !m.is_known()) return std::nullopt;
  Bounded r;
  r.bound = std::fabs(m.value) + m.bound;
  r.certainty = Certainty::Bounded;
  return r;
}

}  // namespace

Bounded rsqrt(const At& at, const Bounded& x) { return at.recip(at.sqrt(x)); }
Bounded expm1(const At& at, const Bounded& x) { return at.sub(at.exp(x), at.number(1)); }
Bounded log10(const At& at, const Bounded& x) { return times(at, kLog10Of2, at.log2(x)); }
Bounded log1p(const At& at, const Bounded& x) { return at.log(more(at, 1, x)); }

Bounded asin(const At& at, const Bounded& x) {
  return atan(at, at.div(x, at.sqrt(at.mul(less(at, 1, x), more(at, 1, x)))));
}

Bounded acos(const At& at, const Bounded& x) { return less(at, kHalfPi, asin(at, x)); }

Bounded atan(const At& at, const Bounded& x) {
  static constexpr double kCoefficients[] = {0.0028662257,  -0.0161657367, 0.0429096138,
                                             -0.0752896400, 0.1065626393,  -0.1420889944,
                                             0.1999355085,  -0.3333314528, 1};
  const Bounded a = at.abs(x);
  const Bounded is_large = at.lt(at.number(1), a);
  const Bounded z = at.pick(is_large, at.div(at.number(1), a), a);
  const Bounded p = at.mul(polynomial(at, at.mul(z, z), kCoefficients), z);
  const Bounded m = at.pick(is_large, less(at, kHalfPi, p), p);
  return of_either_sign(m, x).value_or(at.copysign(m, x));
}

Bounded sinh(const At& at, const Bounded& x) {
  return halved(at, at.sub(at.exp(x), at.exp(at.neg(x))));
}

Bounded cosh(const At& at, const Bounded& x) {
  return halved(at, at.add(at.exp(x), at.exp(at.neg(x))));
}

Bounded tanh(const At& at, const Bounded& x) {
  return at.sub(times(at, 2, sigmoid(at, times(at, 2, x))), at.number(1));
}

Bounded asinh(const At& at, const Bounded& x) {
  return at.log(at.add(x, at.sqrt(at.add(at.square(x), at.number(1)))));
}

Bounded acosh(const At& at, const Bounded& x) {
  return at.log(at.add(x, at.sqrt(at.sub(at.square(x), at.number(1)))));
}

Bounded atanh(const At& at, const Bounded& x) {
  return halved(at, at.log(at.div(more(at, 1, x), less(at, 1, x))));
}

Bounded erf(const At& at, const Bounded& x) {
  static constexpr double kCoefficients[] = {1.061405429, -1.453152027, 1.421413741, -0.284496736,
                                             0.254829592};
  const Bounded t = at.div(at.number(1), more(at, 1, times(at, 0.3275911, at.abs(x))));
  const Bounded p = at.mul(polynomial(at, t, kCoefficients), t);
  const Bounded tail = at.mul(p, at.exp(at.neg(at.square(x))));
  const Bounded m = less(at, 1, tail);
  return of_either_sign(m, x).value_or(at.mul(apply(Fn::Sign, at.t, x), m));
}

Bounded sigmoid(const At& at, const Bounded& x) {
  return at.div(at.number(1), more(at, 1, at.exp(at.neg(x))));
}

Bounded relu(const At& at, const Bounded& x) { return at.max(x, of_integer(at.t, 0)); }

Bounded leaky_relu(const At& at, const Bounded& x, const Bounded& alpha) {
  return at.pick(le(at, at.number(0), x), x, at.mul(alpha, x));
}

Bounded elu(const At& at, const Bounded& x, const Bounded& alpha) {
  return at.pick(at.lt(at.number(0), x), x, at.mul(alpha, expm1(at, x)));
}

Bounded celu(const At& at, const Bounded& x, const Bounded& alpha) {
  const Bounded below = at.mul(alpha, expm1(at, at.div(x, alpha)));
  return at.add(relu(at, x), at.min(at.number(0), below));
}

Bounded gelu(const At& at, const Bounded& x) {
  const Bounded e = erf(at, at.div(x, at.number(kSqrt2)));
  return halved(at, at.mul(x, more(at, 1, e)));
}

Bounded gelu_by_tanh(const At& at, const Bounded& x) {
  const Bounded cube = at.mul(at.mul(x, x), x);
  const Bounded inner = times(at, kSqrt2OverPi, at.add(x, times(at, 0.044715, cube)));
  return halved(at, at.mul(x, more(at, 1, tanh(at, inner))));
}

Bounded silu(const At& at, const Bounded& x) { return at.mul(x, sigmoid(at, x)); }

Bounded softplus(const At& at, const Bounded& x) {
  return at.add(relu(at, x), at.log(more(at, 1, at.exp(at.neg(at.abs(x))))));
}

Bounded softsign(const At& at, const Bounded& x) { return at.div(x, more(at, 1, at.abs(x))); }

Bounded mish(const At& at, const Bounded& x) { return at.mul(x, tanh(at, softplus(at, x))); }

Bounded hard_sigmoid(const At& at, const Bounded& x, const Bounded& alpha, const Bounded& beta) {
  return at.min(relu(at, at.add(at.mul(alpha, x), beta)), at.number(1));
}

Bounded hard_swish(const At& at, const Bounded& x) {
  const Bounded gate = at.add(at.div(x, at.number(6)), at.number(0.5));
  return at.mul(x, at.min(relu(at, gate), at.number(1)));
}

Bounded le(const At& at, const Bounded& x, const Bounded& y) {
  if (uop::is_float(at.t)) {
    for (const Bounded* v : {&x, &y}) {
      const Bounded is_nan = apply(Fn::IsNan, at.t, *v);
      if (!is_nan.is_exact() || is_nan.integer != 0) return negation(is_nan);
    }
  }
  return negation(at.lt(y, x));
}

Bounded is_infinite(const At& at, const Bounded& x, bool positive, bool negative) {
  const Bounded infinite = apply(Fn::IsInf, at.t, x);
  if (!infinite.is_exact() || infinite.integer == 0 || (positive && negative)) return infinite;
  if (!positive && !negative) return negation(infinite);
  return positive ? at.lt(at.number(0), x) : at.lt(x, at.number(0));
}

Bounded fmod(const At& at, const Bounded& x, const Bounded& y) {
  return at.sub(x, at.mul(at.trunc(at.div(x, y)), y));
}

Bounded lerp(const At& at, const Bounded& x, const Bounded& y, const Bounded& t) {
  return at.add(x, at.mul(at.sub(y, x), t));
}

}  // namespace assay::reference
