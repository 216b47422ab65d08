#include "oracles/reference/kernels.h"
#include "oracles/reference/settle.h"

namespace assay::reference {
namespace {

Bounded neg(const Format& f, const Bounded& a, const Bounded&, const Bounded&) {
  Bounded r = a;
  r.value = -a.value;
  r.low = -a.low;
  r.nonnegative = false;
  if (is_nan(a)) r.integer ^= int64_t{1} << (uop::bits_of(f.dtype) - 1);
  return r;
}

// x with the sign bit set or cleared. The distance of magnitudes is no larger than that of numbers.
Bounded with_sign(const Format& f, const Bounded& x, bool negative) {
  Bounded r = x;
  r.loose_zero = false;
  r.nonnegative = !negative;
  if (is_negative(x) == negative) return r;
  r.value = -x.value;
  r.low = -x.low;
  if (is_nan(x)) r.integer ^= int64_t{1} << (uop::bits_of(f.dtype) - 1);
  return r;
}
Bounded abs(const Format& f, const Bounded& a, const Bounded&, const Bounded&) {
  return with_sign(f, a, false);
}
Bounded copy_sign(const Format& f, const Bounded& a, const Bounded& b, const Bounded&) {
  if (is_nan(b) && b.loose_nan) return unspecified();
  if (!has_sign(b)) return ambiguous();
  return with_sign(f, a, is_negative(b));
}

Bounded sign(const Format&, const Bounded& a, const Bounded&, const Bounded&) {
  if (is_nan(a)) return nan();
  if (is_zero(a)) return zero(false);
  return has_sign(a) ? exact(is_negative(a) ? -1 : 1) : ambiguous();
}

// Sums that are no finite number, or one of whose operands is a zero.
Bounded add_special(const Bounded& a, const Bounded& b) {
  if (is_nan(a) || is_nan(b)) return nan();
  if (is_inf(a) && is_inf(b) && a.value != b.value) {
    return a.loose_infinity || b.loose_infinity ? ambiguous() : nan();
  }
  if (is_inf(a)) return exact(a.value);
  if (is_inf(b)) return exact(b.value);
  if (!is_zero(a)) return a;
  if (!is_zero(b)) return b;
  // Only two negative zeros have a negative sum.
  const bool a_is_positive = !is_negative(a) && !a.loose_zero;
  const bool b_is_positive = !is_negative(b) && !b.loose_zero;
  if (a_is_positive || b_is_positive) return zero(false);
  return a.loose_zero || b.loose_zero ? loose_zero() : zero(true);
}

Bounded subtract(const Format& f, const Bounded& a, const Bounded& b, const Bounded& c) {
  return add_floats(f, a, neg(f, b, c, c));
}
Bounded add(const Format& f, const Bounded& a, const Bounded& b, const Bounded&) {
  return add_floats(f, a, b);
}
Bounded multiply(const Format& f, const Bounded& a, const Bounded& b, const Bounded&) {
  return multiply_floats(f, a, b);
}
Bounded square(const Format& f, const Bounded& a, const Bounded&, const Bounded&) {
  if (is_zero(a)) return zero(false);
  Bounded r = multiply_floats(f, a, a);
  r.nonnegative = true;
  return r;
}

// Products of which one factor is no finite number, or a zero.
Bounded multiply_special(const Bounded& a, const Bounded& b) {
  if (is_nan(a) || is_nan(b)) return nan();
  const bool is_infinite = is_inf(a) || is_inf(b);
  if (is_infinite && (is_zero(a) || is_zero(b))) return nan();
  if (!has_sign(a) || !has_sign(b)) return is_infinite ? ambiguous() : loose_zero();
  const bool negative = is_negative(a) != is_negative(b);
  return is_infinite ? exact(negative ? -kInfinity : kInfinity) : zero(negative);
}

long double least_magnitude(const Bounded& x) { return std::max(0.0L, fabsl(x.value) - x.bound); }

// A product of f64s as a pair, and whether that is exact. Around the least numbers a pair has no
// room for the rest, and the operands are scaled.
bool exact_product(double a, double b, Pair& product) {
  product = two_product(a, b);
  if (std::fabs(product.hi) >= 0x1p-900) return true;
  int a_exponent = 0;
  int b_exponent = 0;
  const Pair scaled = two_product(std::frexp(a, &a_exponent), std::frexp(b, &b_exponent));
  const int exponent = a_exponent + b_exponent;
  product = {std::ldexp(scaled.hi, exponent), 0};
  return scaled.lo == 0 && std::ldexp(product.hi, -exponent) == scaled.hi;
}

Bounded product_of_exact(const Format& f, double a, double b) {
  Pair product = {a * b, 0};
  // Below f64 products are exact in a double.
  const bool is_known = f.dtype != DType::F64 || exact_product(a, b, product);
  if (!f.contracts || (is_known && product.lo == 0 && is_number_of(f, product.hi))) {
    return rounded(f, {a * b, 0});
  }
  return settle(f, product, is_known ? 0 : 0x1p-1073, 0.5, certain_product_overflow(f),
                [&] { return fabsl(static_cast<long double>(a) * b); });
}

Bounded fma(const Format& f, const Bounded& a, const Bounded& b, const Bounded& c) {
  const bool is_plain = is_finite(a) && is_finite(b) && is_finite(c) && !is_zero(a) && !is_zero(b);
  if (!is_plain) {
    const Bounded product = multiply_floats(f, a, b);
    return product.is_known() ? add_floats(f, product, c) : product;
  }
  if (a.is_exact() && b.is_exact() && c.is_exact()) {
    if (f.dtype == DType::F64) return rounded(f, {std::fma(a.value, b.value, c.value), 0});
    return rounded(f, two_sum(a.value * b.value, c.value));
  }
  const Pair product = reference::multiply(pair_of(a), pair_of(b));
  const double own = f.dtype == DType::F64 ? kPairError : kDoubleError;
  const double size = std::fabs(product.hi) + std::fabs(c.value);
  const double spread = std::fabs(a.value) * b.bound + std::fabs(b.value) * a.bound +
                        a.bound * b.bound + c.bound + size * own;
  Bounded r = settle(f, reference::add(product, pair_of(c)), spread, 0.5, certain_overflow(f), [&] {
    return fabsl(static_cast<long double>(a.value) * b.value + c.value) - spread * kSlack;
  });
  r.nonnegative = !may_be_negative(a) && !may_be_negative(b) && !may_be_negative(c);
  return r;
}

Bounded is_nan_of(const Format&, const Bounded& a, const Bounded&, const Bounded&) {
  return of_bool(is_nan(a));
}
Bounded is_inf_of(const Format&, const Bounded& a, const Bounded&, const Bounded&) {
  return of_bool(is_inf(a));
}
// x, which is chosen before another one, unless that may be a zero that decides by its sign.
Bounded chosen(const Bounded& x, const Bounded& other, bool larger) {
  const bool is_decided = !is_zero(x) || is_negative(x) != larger;
  return is_decided || !may_be_zero(other) ? x : loose_zero();
}
// IEEE 754-2019 maximum or minimum. Where bounds overlap the one picked is within the larger bound.
Bounded pick(const Bounded& a, const Bounded& b, bool larger) {
  if (is_nan(a) || is_nan(b)) return nan();
  if (is_zero(a) && is_zero(b)) {
    // The zero that decides is the positive one of a maximum, the negative one of a minimum.
    if (is_negative(a) != larger && !a.loose_zero) return a;
    if (is_negative(b) != larger && !b.loose_zero) return b;
    return a.loose_zero ? a : b;
  }
  if (lowest_of(a) >= highest_of(b)) return larger ? chosen(a, b, true) : chosen(b, a, false);
  if (lowest_of(b) >= highest_of(a)) return larger ? chosen(b, a, true) : chosen(a, b, false);
  const bool b_above = a.value < b.value || (a.value == b.value && a.low < b.low);
  Bounded r = b_above == larger ? b : a;
  r.certainty = Certainty::Bounded;
  r.bound = std::max(a.bound, b.bound);
  r.loose_zero = false;
  const bool a_above_zero = !may_be_negative(a);
  const bool b_above_zero = !may_be_negative(b);
  r.nonnegative = larger ? a_above_zero || b_above_zero : a_above_zero && b_above_zero;
  return r;
}
Bounded max(const Format&, const Bounded& a, const Bounded& b, const Bounded&) {
  return max_floats(a, b);
}
Bounded min(const Format&, const Bounded& a, const Bounded& b, const Bounded&) {
  return min_floats(a, b);
}

}  // namespace

Bounded add_floats(const Format& f, const Bounded& a, const Bounded& b) {
  if (!is_finite(a) || !is_finite(b) || is_zero(a) || is_zero(b)) return add_special(a, b);
  if (a.is_exact() && b.is_exact()) return rounded(f, two_sum(a.value, b.value));
  const bool is_pair = f.dtype == DType::F64;
  const Pair sum = is_pair ? add(pair_of(a), pair_of(b)) : two_sum(a.value, b.value);
  const double own = is_pair ? kPairError * (std::fabs(a.value) + std::fabs(b.value)) : 0;
  const double spread = a.bound + b.bound + own;
  Bounded r = settle(f, sum, spread, 0.5, certain_overflow(f), [&] {
    return fabsl(static_cast<long double>(a.value) + b.value) - spread * kSlack;
  });
  r.nonnegative = !may_be_negative(a) && !may_be_negative(b);
  return r;
}

Bounded multiply_floats(const Format& f, const Bounded& a, const Bounded& b) {
  if (!is_finite(a) || !is_finite(b) || is_zero(a) || is_zero(b)) return multiply_special(a, b);
  Bounded r;
  if (a.is_exact() && b.is_exact()) {
    r = product_of_exact(f, a.value, b.value);
    r.loose_infinity = f.contracts && is_inf(r);
    return r;
  }
  const bool is_pair = f.dtype == DType::F64;
  const Pair product = is_pair ? multiply(pair_of(a), pair_of(b)) : Pair{a.value * b.value, 0};
  const double spread = std::fabs(a.value) * b.bound + std::fabs(b.value) * a.bound +
                        a.bound * b.bound +
                        std::fabs(product.hi) * (is_pair ? kPairError : kDoubleError);
  r = settle(f, product, spread, 0.5, certain_product_overflow(f),
             [&] { return least_magnitude(a) * least_magnitude(b) * (1 - 0x1p-50L); });
  r.loose_infinity = f.contracts && is_inf(r);
  r.nonnegative = !may_be_negative(a) && !may_be_negative(b);
  return r;
}

Bounded max_floats(const Bounded& a, const Bounded& b) { return pick(a, b, true); }
Bounded min_floats(const Bounded& a, const Bounded& b) { return pick(a, b, false); }

FloatKernel float_kernel(Fn fn) {
  switch (fn) {
    case Fn::Neg: return neg;
    case Fn::Abs: return abs;
    case Fn::Sign: return sign;
    case Fn::Square: return square;
    case Fn::Add: return add;
    case Fn::Sub: return subtract;
    case Fn::Mul: return multiply;
    case Fn::Fma: return fma;
    case Fn::Max: return max;
    case Fn::Min: return min;
    case Fn::CopySign: return copy_sign;
    case Fn::IsNan: return is_nan_of;
    case Fn::IsInf: return is_inf_of;
    default: break;
  }
  const FloatKernel function = function_kernel(fn);
  return function != nullptr ? function : step_kernel(fn);
}

}  // namespace assay::reference
