#include "engine/uop/functions.h"

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <string>

#include "engine/check.h"

namespace assay::uop {
namespace {

using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

Function function_of(Op op) {
  switch (op) {
    case Op::Exp: return mpfr_exp;
    case Op::Exp2: return mpfr_exp2;
    case Op::Log: return mpfr_log;
    case Op::Log2: return mpfr_log2;
    case Op::Sin: return mpfr_sin;
    case Op::Cos: return mpfr_cos;
    case Op::Tan: return mpfr_tan;
    default: return nullptr;
  }
}

// A number in MPFR's hands.
class Big {
 public:
  explicit Big(int precision) { mpfr_init2(x_, precision); }
  explicit Big(double value) : Big(53) { mpfr_set_d(x_, value, MPFR_RNDN); }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  ~Big() { mpfr_clear(x_); }
  mpfr_ptr get() { return x_; }

 private:
  mpfr_t x_;
};

// Runs `compute(result)` at the precision and exponent range of t, subnormals included, so that the
// one rounding is that of t.
template <typename Compute>
Value correctly_rounded(DType t, Compute compute) {
  const FloatFormat f = format_of(t);
  mpfr_set_emin(f.min_exponent() + 1);
  mpfr_set_emax(f.max_exponent() + 1);
  Big result(f.mantissa_bits + 1);
  int ternary = compute(result.get());
  ternary = mpfr_check_range(result.get(), ternary, MPFR_RNDN);
  mpfr_subnormalize(result.get(), ternary, MPFR_RNDN);
  const double exact = mpfr_get_d(result.get(), MPFR_RNDN);
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  return std::isnan(exact) ? nan_of(t) : of_double(t, exact);
}

Value flip_sign(Value v) { return {v.dtype, v.bits ^ (uint64_t{1} << (bits_of(v.dtype) - 1))}; }

// a * b + c rounded once. Below f64 the product is exact in f64; the sum is rounded to odd there,
// so that rounding it again to at most 24 bits is right (Boldo and Melquiond, 2008).
double fma_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (c - part);
  const auto bits = std::bit_cast<uint64_t>(sum);
  if (lost == 0 || (bits & 1) != 0) return sum;
  return std::nextafter(sum, lost > 0 ? HUGE_VAL : -HUGE_VAL);
}

Value pick(Op op, Value a, Value b) {
  const double x = as_double(a);
  const double y = as_double(b);
  const bool b_below = y < x || (x == y && std::signbit(y) && !std::signbit(x));
  return b_below == (op == Op::Min) ? b : a;
}

// Operations that f64 does right for every narrower type too: 53 bits are enough for the second
// rounding, to at most 24, to be harmless (Figueroa, 1995).
std::optional<double> arithmetic(Op op, double a, double b) {
  switch (op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::FDiv: return a / b;
    case Op::Recip: return 1.0 / a;
    case Op::Sqrt: return std::sqrt(a);
    case Op::Trunc: return std::trunc(a);
    case Op::Floor: return std::floor(a);
    case Op::Ceil: return std::ceil(a);
    case Op::Round: return std::nearbyint(a);
    default: return std::nullopt;
  }
}

uint32_t rotate(uint32_t x, int n) { return std::rotl(x, n); }

}  // namespace

std::optional<Value> eval_float(Op op, DType t, std::span<const Value> src) {
  if (op == Op::Neg) return flip_sign(src[0]);
  const double a = as_double(src[0]);
  const double b = src.size() > 1 ? as_double(src[1]) : 0.0;
  if (op == Op::Pow) {
    Big x(a);
    Big y(b);
    return correctly_rounded(t,
                             [&](mpfr_ptr r) { return mpfr_pow(r, x.get(), y.get(), MPFR_RNDN); });
  }
  for (const Value v : src) {
    if (is_nan(v)) return nan_of(t);
  }
  if (op == Op::Max || op == Op::Min) return pick(op, src[0], src[1]);
  if (op == Op::Fma) {
    const double c = as_double(src[2]);
    const double sum = t == F64 ? std::fma(a, b, c) : fma_to_odd(a, b, c);
    return std::isnan(sum) ? nan_of(t) : of_double(t, sum);
  }
  if (const Function function = function_of(op)) {
    Big x(a);
    return correctly_rounded(t, [&](mpfr_ptr r) { return function(r, x.get(), MPFR_RNDN); });
  }
  const std::optional<double> result = arithmetic(op, a, b);
  ASSAY_CHECK(result.has_value(), "{} has no meaning at {}", to_text(op), to_text(t));
  return std::isnan(*result) ? nan_of(t) : of_double(t, *result);
}

Value decimal(DType t, std::string_view text) {
  const std::string terminated(text);
  return correctly_rounded(
      t, [&](mpfr_ptr r) { return mpfr_strtofr(r, terminated.c_str(), nullptr, 10, MPFR_RNDN); });
}

uint64_t threefry(uint64_t counter, uint64_t key) {
  static constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const auto k0 = static_cast<uint32_t>(key);
  const auto k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[3] = {k0, k1, 0x1BD11BDA ^ k0 ^ k1};
  uint32_t x0 = static_cast<uint32_t>(counter) + keys[0];
  uint32_t x1 = static_cast<uint32_t>(counter >> 32) + keys[1];
  for (uint32_t round = 0; round < 20; round++) {
    x0 += x1;
    x1 = rotate(x1, kRotations[round % 8]) ^ x0;
    if (round % 4 == 3) {
      const uint32_t s = round / 4 + 1;
      x0 += keys[s % 3];
      x1 += keys[(s + 1) % 3] + s;
    }
  }
  return uint64_t{x1} << 32 | x0;
}

}  // namespace assay::uop
