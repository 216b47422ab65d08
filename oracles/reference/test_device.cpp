#include "oracles/reference/test_device.h"

#include <fmt/format.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/check.h"

namespace assay::reference {
namespace {

using uop::FloatFormat;

class Big {
 public:
  Big() { mpfr_init2(x_, 400); }
  explicit Big(double x) : Big() { mpfr_set_d(x_, x, MPFR_RNDN); }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  ~Big() { mpfr_clear(x_); }
  mpfr_ptr get() { return x_; }
  bool is_regular() const { return mpfr_regular_p(x_) != 0; }
  double to_double() const { return mpfr_get_d(x_, MPFR_RNDN); }

 private:
  mpfr_t x_;
};

// Rounds at the precision and exponent range of t.
double round_at(DType t, Big& x) {
  const FloatFormat f = uop::format_of(t);
  mpfr_t r;
  mpfr_init2(r, f.mantissa_bits + 1);
  const mpfr_exp_t least = mpfr_get_emin();
  const mpfr_exp_t largest = mpfr_get_emax();
  mpfr_set_emin(f.min_exponent() + 1);
  mpfr_set_emax(f.max_exponent() + 1);
  int ternary = mpfr_set(r, x.get(), MPFR_RNDN);
  ternary = mpfr_check_range(r, ternary, MPFR_RNDN);
  mpfr_subnormalize(r, ternary, MPFR_RNDN);
  const double result = mpfr_get_d(r, MPFR_RNDN);
  mpfr_set_emin(least);
  mpfr_set_emax(largest);
  mpfr_clear(r);
  const bool is_past = t == DType::E4M3 && std::fabs(result) > 448;
  return is_past ? std::numeric_limits<double>::quiet_NaN() : result;
}

bool is_zero_below(double a, double b) {
  return a == 0 && b == 0 && std::signbit(a) && !std::signbit(b);
}
double larger(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return a < b || is_zero_below(a, b) ? b : a;
}

using Unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
Unary unary_of(Fn fn) {
  switch (fn) {
    case Fn::Neg: return mpfr_neg;
    case Fn::Abs: return mpfr_abs;
    case Fn::Square: return mpfr_sqr;
    case Fn::Sqrt: return mpfr_sqrt;
    case Fn::Exp: return mpfr_exp;
    case Fn::Exp2: return mpfr_exp2;
    case Fn::Log: return mpfr_log;
    case Fn::Log2: return mpfr_log2;
    case Fn::Sin: return mpfr_sin;
    case Fn::Cos: return mpfr_cos;
    case Fn::Tan: return mpfr_tan;
    case Fn::Trunc: return mpfr_rint_trunc;
    case Fn::Floor: return mpfr_rint_floor;
    case Fn::Ceil: return mpfr_rint_ceil;
    case Fn::Round: return mpfr_rint_roundeven;
    default: return nullptr;
  }
}
using Binary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
Binary binary_of(Fn fn) {
  switch (fn) {
    case Fn::Add: return mpfr_add;
    case Fn::Sub: return mpfr_sub;
    case Fn::Mul: return mpfr_mul;
    case Fn::Div: return mpfr_div;
    case Fn::Pow: return mpfr_pow;
    default: return nullptr;
  }
}

bool compute(Fn fn, Big& r, double x, double y, double z) {
  Big a(x);
  Big b(y);
  Big c(z);
  if (const Unary f = unary_of(fn)) return f(r.get(), a.get(), MPFR_RNDN), true;
  if (const Binary f = binary_of(fn)) return f(r.get(), a.get(), b.get(), MPFR_RNDN), true;
  if (fn == Fn::Recip) return mpfr_ui_div(r.get(), 1, a.get(), MPFR_RNDN), true;
  if (fn == Fn::Fma) {
    // Wide enough for any product of doubles and the least of them: it is rounded later.
    mpfr_set_prec(r.get(), 4400);
    return mpfr_fma(r.get(), a.get(), b.get(), c.get(), MPFR_RNDN), true;
  }
  return false;
}

double pick(Fn fn, double x, double y, double z) {
  switch (fn) {
    case Fn::Max: return larger(x, y);
    case Fn::Min: return -larger(-x, -y);
    case Fn::CopySign: return std::copysign(x, y);
    case Fn::IsNan: return std::isnan(x) ? 1 : 0;
    case Fn::IsInf: return std::isinf(x) ? 1 : 0;
    case Fn::Lt: return x < y ? 1 : 0;
    case Fn::Eq: return x == y ? 1 : 0;
    case Fn::Ne: return x != y ? 1 : 0;
    case Fn::Where: return x != 0 ? y : z;
    case Fn::Sign: return std::isnan(x) ? x : (x > 0 ? 1 : 0) - (x < 0 ? 1.0 : 0.0);
    default: ASSAY_CHECK(false, "{} is not there", name_of(fn));
  }
}

}  // namespace

uint64_t Random::next() {
  uint64_t z = state_ += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

double nearest(DType t, double x) {
  Big big(x);
  return round_at(t, big);
}

double unit_of(DType t, double x) {
  const FloatFormat f = uop::format_of(t);
  if (x == 0) return std::ldexp(1, f.min_exponent());
  return std::ldexp(1, std::max(std::ilogb(x) - f.mantissa_bits, f.min_exponent()));
}

double number(Random& random, DType t) {
  const FloatFormat f = uop::format_of(t);
  const double inf = std::numeric_limits<double>::infinity();
  const double nasty[] = {
      0.0,  -0.0, inf,  -inf, std::numeric_limits<double>::quiet_NaN(),
      1,    -1,   0.5,  2,    std::ldexp(1, f.min_exponent()),
      1.5,  -2.5, 3,    4,    std::ldexp(3, f.max_exponent() - 1) * (1 - 0x1p-3),
      -3.5, 1e30, 1e-5, 10,   std::ldexp(1, 1 - f.bias())};
  switch (random.below(5)) {
    case 0: return nearest(t, nasty[random.below(std::size(nasty))]);
    case 1: {
      const auto bits = random.next();
      if (t == DType::F64) return std::bit_cast<double>(bits);
      const int exponent =
          f.min_exponent() + static_cast<int>(random.below(f.max_exponent() - f.min_exponent()));
      return nearest(
          t, std::ldexp(1 + random.signed_unit() / 2, exponent) * (random.chance(2) ? 1 : -1));
    }
    case 2: return nearest(t, static_cast<double>(random.below(33) - 16));
    default:
      return nearest(t,
                     random.signed_unit() * std::ldexp(1, static_cast<int>(random.below(7)) - 2));
  }
}

double device(Fn fn, DType t, double x, double y, double z, double skew) {
  Big r;
  if (!compute(fn, r, x, y, z)) return pick(fn, x, y, z);
  const double limit = ulp_limit(fn, t);
  const double before = r.to_double();
  if (limit <= 0.5 || !r.is_regular() || std::isinf(before)) return round_at(t, r);
  // What C99 and IEEE 754 fix stays as it is.
  const bool is_fixed = (fn == Fn::Pow && (y == 0 || x == 1 || std::isinf(y))) ||
                        (fn != Fn::Pow && x == 0) || std::isinf(x) || std::isinf(y);
  if (is_fixed) return round_at(t, r);
  // Rounding may reach further than half a unit of the exact result; a device keeps its limit.
  double after = before;
  for (double part = skew;; part = std::fabs(part) < 0x1p-8 ? 0 : part / 2) {
    const double unit = unit_of(t, before);
    Big off(part * (limit - 0.5) * unit);
    mpfr_add(off.get(), off.get(), r.get(), MPFR_RNDN);
    after = round_at(t, off);
    if (part == 0 || !std::isfinite(after)) break;
    mpfr_sub_d(off.get(), r.get(), after, MPFR_RNDN);
    if (std::fabs(off.to_double()) <= limit * unit) break;
  }
  // No function crosses zero by being off.
  if (std::isnan(after)) return after;
  return std::signbit(after) == std::signbit(before) ? after : std::copysign(0.0, before);
}

double unrounded(Fn fn, double x, double y, double z) {
  Big r;
  ASSAY_CHECK(compute(fn, r, x, y, z), "{} is not there", name_of(fn));
  return r.to_double();
}

double error_of(const Bounded& expected, double actual) {
  Big e(actual);
  mpfr_sub_d(e.get(), e.get(), expected.value, MPFR_RNDN);
  mpfr_sub_d(e.get(), e.get(), expected.low, MPFR_RNDN);
  return std::fabs(e.to_double());
}

bool admits(const Bounded& expected, DType t, double actual) {
  if (!expected.is_known()) return true;
  if (!uop::is_float(t)) return expected.integer == static_cast<int64_t>(actual);
  if (!expected.is_exact()) {
    if (!std::isfinite(actual) || (expected.nonnegative && actual < 0)) return false;
    return error_of(expected, actual) <= expected.bound;
  }
  if (std::isnan(expected.value)) return std::isnan(actual);
  if (expected.value != actual) return false;
  return actual != 0 || expected.loose_zero || std::signbit(actual) == std::signbit(expected.value);
}

std::string show(const Bounded& x) {
  constexpr const char* kNames[] = {"exact", "bounded", "unspecified", "ambiguous"};
  return fmt::format("{} {:.17g} + {:.3g} +- {:.3g}{}{} int {}", kNames[int(x.certainty)], x.value,
                     x.low, x.bound, x.loose_zero ? " loose" : "", x.nonnegative ? " >= 0" : "",
                     x.integer);
}

Operand exact_operand(Random& random, DType t) {
  const double x = number(random, t);
  return {of_double(t, x), x};
}

Operand bounded_operand(Random& random, DType t) {
  while (true) {
    const double x = number(random, t);
    if (!std::isfinite(x)) continue;
    Operand r;
    r.known.certainty = Certainty::Bounded;
    const double unit = unit_of(t, x);
    r.known.value = x + unit * random.signed_unit() / 2;
    if (t == DType::F64) r.known.low = r.known.value * 0x1p-54 * random.signed_unit();
    r.known.bound = std::ldexp(unit, static_cast<int>(random.below(12)) - 1);
    r.actual = nearest(t, r.known.value + r.known.bound * random.signed_unit());
    if (r.known.bound == 0) continue;  // half of the least number
    if (std::isfinite(r.actual) && error_of(r.known, r.actual) <= r.known.bound) return r;
  }
}

void Tally::judge(const Bounded& expected, DType t, double actual, const std::string& what) {
  seen_++;
  if (!expected.is_known()) {
    masked_++;
    return;
  }
  if (!admits(expected, t, actual)) {
    if (outside_++ == 0)
      first_ = fmt::format("{} is {:.17g} when {}", what, actual, show(expected));
    return;
  }
  if (!uop::is_float(t) || expected.is_exact()) return;
  ratios_.push_back(expected.bound / std::max(error_of(expected, actual), unit_of(t, actual) / 2));
}

std::string Tally::trouble() const {
  if (seen_ == 0) return "nothing was seen";
  if (outside_ == 0) return "";
  return fmt::format("{} of {} outside: {}", outside_, seen_, first_);
}

double Tally::masked() const { return static_cast<double>(masked_) / static_cast<double>(seen_); }

double Tally::looseness() {
  if (ratios_.empty()) return 0;
  const auto middle = ratios_.begin() + static_cast<int64_t>(ratios_.size() / 2);
  std::nth_element(ratios_.begin(), middle, ratios_.end());
  return *middle;
}

}  // namespace assay::reference
