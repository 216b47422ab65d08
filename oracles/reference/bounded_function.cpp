#include <cfloat>
#include <cmath>

#include "engine/check.h"
#include "oracles/reference/kernels.h"
#include "oracles/reference/settle.h"

namespace assay::reference {
namespace {

constexpr double kLog2OfE = 1.4426950408889634;
constexpr double kLogOf2 = 0.6931471805599453;

// Whether a device has the exact result, rounded once.
bool is_correct(const Format& f, Fn fn) { return f.limit(fn) <= 0.5; }

// What f64 is judged by: eleven bits more, and exponents of which no function of f64s runs out
// where it matters.
static_assert(LDBL_MANT_DIG >= 64);

template <typename T>
T library(Fn fn, T x, T y) {
  switch (fn) {
    case Fn::Recip:
    case Fn::Div: return x / y;
    case Fn::Sqrt: return std::sqrt(x);
    case Fn::Exp: return std::exp(x);
    case Fn::Exp2: return std::exp2(x);
    case Fn::Log: return std::log(x);
    case Fn::Log2: return std::log2(x);
    case Fn::Sin: return std::sin(x);
    case Fn::Cos: return std::cos(x);
    case Fn::Tan: return std::tan(x);
    case Fn::Pow: return std::pow(x, y);
    default: ASSAY_CHECK(false, "{} has no limit", name_of(fn));
  }
}

// The exact result for the value of the operands, how far off it is itself, and its size as a
// number that does not overflow.
struct Evaluated {
  Pair v;
  double own;
  long double wide;
};
Evaluated evaluate(const Format& f, Fn fn, Pair x, Pair y = {}) {
  if (f.dtype != DType::F64) {
    const double v = library<double>(fn, x.hi, y.hi);
    return {{v, 0}, std::fabs(v) * kLibraryError, v};
  }
  const auto wide = [](Pair p) { return static_cast<long double>(p.hi) + p.lo; };
  const long double v = library<long double>(fn, wide(x), wide(y));
  const auto high = static_cast<double>(v);
  const auto low = std::isfinite(high) ? static_cast<double>(v - high) : 0;
  return {{high, low}, std::fabs(high) * kWideError + 0x1p-1073, v};
}

// The bound of an operand, around the long double that stands for its pair.
double bound_of(const Bounded& x) {
  return x.low == 0 ? x.bound : x.bound + std::fabs(x.value) * 0x1p-63;
}

template <typename Least>
Bounded limited(const Format& f, Fn fn, const Evaluated& e, double spread, Least least) {
  return settle(f, e.v, spread + e.own, f.limit(fn), certain_overflow(f),
                [&] { return fabsl(least()) * (1 - 0x1p-45L); });
}
// Of a function that does not overflow.
Bounded limited(const Format& f, Fn fn, const Evaluated& e, double spread) {
  return limited(f, fn, e, spread, [&] { return e.wide; });
}

template <Fn fn>
Bounded exponential(const Format& f, const Bounded& a, const Bounded&, const Bounded&) {
  if (is_nan(a)) return nan();
  if (is_inf(a)) return a.value > 0 ? exact(kInfinity) : zero(false);
  if (is_zero(a)) return exact(1);
  const Evaluated e = evaluate(f, fn, pair_of(a));
  double spread = 0;
  if (a.bound > 0) {
    const double x = bound_of(a) * (fn == Fn::Exp2 ? kLogOf2 : 1);
    spread = e.v.hi * (x <= 1 ? x * (1 + x) : std::expm1(x));
  }
  Bounded r = limited(f, fn, e, spread, [&] {
    return a.is_exact() ? e.wide : evaluate(f, fn, {lowest_of(a), 0}).wide;
  });
  r.nonnegative = true;
  return r;
}

template <Fn fn>
Bounded logarithm(const Format& f, const Bounded& a, const Bounded&, const Bounded&) {
  if (is_nan(a) || highest_of(a) < 0) return nan();
  if (is_zero(a)) return exact(-kInfinity);
  if (is_inf(a)) return exact(kInfinity);
  const double low = lowest_of(a);
  if (low <= 0) return ambiguous();
  if (a.is_exact() && a.value == 1) return zero(false);
  const double spread = bound_of(a) / low * (fn == Fn::Log2 ? kLog2OfE : 1);
  return limited(f, fn, evaluate(f, fn, pair_of(a)), spread);
}

template <Fn fn>
Bounded wave(const Format& f, const Bounded& a, const Bounded&, const Bounded&) {
  if (is_nan(a) || is_inf(a)) return nan();
  if (is_zero(a)) return fn == Fn::Sin ? a : exact(1);
  return limited(f, fn, evaluate(f, fn, pair_of(a)), std::min(bound_of(a), 2.0));
}

// The slope 1 + tan^2 is largest at an end of an interval without a pole: one that is shorter than
// pi and at both of whose ends the cosine has the same sign.
Bounded tangent(const Format& f, const Bounded& a, const Bounded&, const Bounded&) {
  if (is_nan(a) || is_inf(a)) return nan();
  if (is_zero(a)) return a;
  const Evaluated e = evaluate(f, Fn::Tan, pair_of(a));
  if (a.is_exact()) return limited(f, Fn::Tan, e, 0);
  const double low = lowest_of(a);
  const double high = highest_of(a);
  if (high - low > 3 || std::cos(low) * std::cos(high) <= 0) return ambiguous();
  const double steepest = std::max(std::fabs(std::tan(low)), std::fabs(std::tan(high)));
  return limited(f, Fn::Tan, e, bound_of(a) * (1 + steepest * steepest) * (1 + 0x1p-20));
}

Bounded root(const Format& f, const Bounded& a, const Bounded&, const Bounded&) {
  if (is_nan(a) || (highest_of(a) < 0 && !is_zero(a))) return nan();
  if (is_zero(a) || is_inf(a)) return a;
  const double low = lowest_of(a);
  if (low < 0) return ambiguous();
  // A double has more than twice the bits of any other type, so that rounding again is harmless.
  if (a.is_exact() && is_correct(f, Fn::Sqrt)) return rounded(f, {std::sqrt(a.value), 0});
  const Evaluated e = evaluate(f, Fn::Sqrt, a.value > 0 ? pair_of(a) : Pair{});
  const double s = e.v.hi;
  double spread = 0;
  if (a.bound > 0) {
    spread =
        low > 0 ? bound_of(a) / (s + std::sqrt(low)) : std::max(s, std::sqrt(highest_of(a)) - s);
  }
  Bounded r = limited(f, Fn::Sqrt, e, spread);
  r.nonnegative = true;
  return r;
}

// Quotients one of whose operands is no finite number or may be a zero.
Bounded divide_special(const Bounded& a, const Bounded& b) {
  if (is_nan(a) || is_nan(b) || (is_inf(a) && is_inf(b)) || (is_zero(a) && is_zero(b))) {
    return nan();
  }
  const bool negative = is_negative(a) != is_negative(b);
  if (is_inf(b)) return has_sign(a) ? zero(negative) : loose_zero();
  const bool is_infinite = is_inf(a) || is_zero(b);
  if (is_infinite) {
    return has_sign(a) && has_sign(b) ? exact(negative ? -kInfinity : kInfinity) : ambiguous();
  }
  if (may_be_zero(b)) return ambiguous();
  return has_sign(a) ? zero(negative) : loose_zero();
}

template <Fn fn>
Bounded quotient(const Format& f, const Bounded& a, const Bounded& b) {
  if (!is_finite(a) || !is_finite(b) || is_zero(a) || may_be_zero(b)) return divide_special(a, b);
  if (a.is_exact() && b.is_exact() && is_correct(f, fn)) {
    return rounded(f, {a.value / b.value, 0});
  }
  const Evaluated e = evaluate(f, Fn::Div, pair_of(a), pair_of(b));
  const double least = std::min(std::fabs(lowest_of(b)), std::fabs(highest_of(b)));
  if (least == 0) return ambiguous();
  // (|b| ea + |a| eb) / (|b| (|b| - eb)), in an order in which nothing that counts underflows.
  const double spread = a.bound / least + std::fabs(e.v.hi) * (b.bound / least);
  Bounded r = limited(f, fn, e, spread, [&] {
    return std::max(0.0L, fabsl(a.value) - a.bound) / (fabsl(b.value) + b.bound);
  });
  r.nonnegative = !may_be_negative(a) && !may_be_negative(b);
  return r;
}
Bounded divide_floats(const Format& f, const Bounded& a, const Bounded& b, const Bounded&) {
  return quotient<Fn::Div>(f, a, b);
}
Bounded reciprocal(const Format& f, const Bounded& a, const Bounded&, const Bounded&) {
  return quotient<Fn::Recip>(f, exact(1), a);
}

bool is_whole(double x) { return std::floor(x) == x; }
bool is_odd(double x) { return std::fmod(x, 2) != 0; }

// C99, F.9.4.4, for exact operands, one of them an infinity or the base a zero.
Bounded power_special(const Bounded& x, const Bounded& y) {
  const double r = std::pow(x.value, y.value);
  const bool keeps_sign =
      is_zero(x) && std::isfinite(y.value) && is_whole(y.value) && is_odd(y.value);
  if (!keeps_sign || !x.loose_zero) return exact(r);
  return r == 0 ? loose_zero() : ambiguous();
}

// x^y for a base that is not below zero, or |x|^y. Its logarithm y ln x changes by at most
// |y| ex / (x - ex) + ey |ln x|.
Bounded power_of_magnitude(const Format& f, const Bounded& x, const Bounded& y) {
  const double x_low = std::min(std::fabs(lowest_of(x)), std::fabs(highest_of(x)));
  const double x_high = std::max(std::fabs(lowest_of(x)), std::fabs(highest_of(x)));
  Pair base = pair_of(x);
  if (highest_of(x) < 0) base = {-base.hi, -base.lo};
  if (base.hi < 0) base = {};
  const Evaluated e = evaluate(f, Fn::Pow, base, pair_of(y));
  double spread = 0;
  double change = 0;
  if (x_low > 0) {
    const double y_high = std::max(std::fabs(lowest_of(y)), std::fabs(highest_of(y)));
    change = y_high * bound_of(x) / x_low;
    if (y.bound > 0) {
      change += bound_of(y) * std::max(std::fabs(std::log(x_low)), std::fabs(std::log(x_high)));
    }
    change *= 1 + 0x1p-20;
    spread = change > 0 ? e.v.hi * std::expm1(change) : 0;
  } else {
    spread = std::max(std::pow(x_high, lowest_of(y)), std::pow(x_high, highest_of(y))) * kSlack;
  }
  Bounded r = limited(f, Fn::Pow, e, spread, [&] {
    return x_low > 0 && change < 500 ? e.wide * std::exp(-change) : 0.0L;
  });
  r.nonnegative = true;
  return r;
}

// x^n for a whole n > 0 and a base of either sign, whose slope is at most n M^(n-1).
Bounded power_across_zero(const Format& f, const Bounded& x, double n) {
  const Evaluated e = evaluate(f, Fn::Pow, pair_of(x), {n, 0});
  const double largest = std::max(std::fabs(lowest_of(x)), std::fabs(highest_of(x)));
  const double spread = n * std::pow(largest, n - 1) * bound_of(x) * (1 + 0x1p-20);
  Bounded r = limited(f, Fn::Pow, e, spread, [] { return 0.0L; });
  r.nonnegative = !is_odd(n);
  return r;
}

Bounded power_of_bounded(const Format& f, const Bounded& x, const Bounded& y) {
  const double x_low = lowest_of(x);
  const double x_high = highest_of(x);
  const bool is_fixed = y.is_exact();
  if (x_low > 0 || (x_low == 0 && lowest_of(y) > 0)) return power_of_magnitude(f, x, y);
  if (!is_fixed) return ambiguous();
  const double n = y.value;
  if (!is_whole(n)) return x_high < 0 ? nan() : ambiguous();
  if (x_high >= 0) return n > 0 ? power_across_zero(f, x, n) : ambiguous();
  Bounded r = power_of_magnitude(f, x, y);
  if (!is_odd(n) || !r.is_known()) return r;
  r.value = -r.value;
  r.low = -r.low;
  r.nonnegative = false;
  return r;
}

// Of operands that are within bounds, one of which may be an infinity or the base a zero.
Bounded power_at_edges(const Bounded& x, const Bounded& y) {
  if (is_inf(y)) {
    const double least =
        may_be_zero(x) ? 0 : std::min(std::fabs(lowest_of(x)), std::fabs(highest_of(x)));
    const double largest = std::max(std::fabs(lowest_of(x)), std::fabs(highest_of(x)));
    if (largest < 1) return y.value > 0 ? zero(false) : exact(kInfinity);
    if (least > 1) return y.value > 0 ? exact(kInfinity) : zero(false);
    return ambiguous();
  }
  if (!has_sign(y)) return ambiguous();
  const bool is_large = is_inf(x) != is_negative(y);
  const bool is_positive = !is_negative(x) && !x.loose_zero;
  // Some exponents within the bound may be odd.
  if (is_positive) return is_large ? exact(kInfinity) : zero(false);
  return is_large ? ambiguous() : loose_zero();
}

Bounded power(const Format& f, const Bounded& x, const Bounded& y, const Bounded&) {
  const bool is_one = x.is_exact() && x.value == 1;
  if (is_zero(y) || is_one) return exact(1);
  if (is_nan(x) || is_nan(y)) {
    // 1 to a NaN and a NaN to the zeroth are 1.
    const bool may_be_one = lowest_of(x) <= 1 && 1 <= highest_of(x);
    return may_be_one || (!is_nan(y) && may_be_zero(y)) ? ambiguous() : nan();
  }
  const bool is_edge = is_inf(x) || is_inf(y) || is_zero(x);
  const bool is_known = x.is_exact() && y.is_exact();
  if (is_edge) return is_known ? power_special(x, y) : power_at_edges(x, y);
  if (!is_known) return power_of_bounded(f, x, y);
  if (x.value < 0 && !is_whole(y.value)) return nan();
  Bounded r = limited(f, Fn::Pow, evaluate(f, Fn::Pow, pair_of(x), pair_of(y)), 0);
  r.nonnegative = r.value > 0;
  return r;
}

}  // namespace

FloatKernel function_kernel(Fn fn) {
  switch (fn) {
    case Fn::Recip: return reciprocal;
    case Fn::Div: return divide_floats;
    case Fn::Sqrt: return root;
    case Fn::Exp: return exponential<Fn::Exp>;
    case Fn::Exp2: return exponential<Fn::Exp2>;
    case Fn::Log: return logarithm<Fn::Log>;
    case Fn::Log2: return logarithm<Fn::Log2>;
    case Fn::Sin: return wave<Fn::Sin>;
    case Fn::Cos: return wave<Fn::Cos>;
    case Fn::Tan: return tangent;
    case Fn::Pow: return power;
    default: return nullptr;
  }
}

}  // namespace assay::reference
