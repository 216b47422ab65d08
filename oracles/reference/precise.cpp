#include "oracles/reference/precise.h"

#include <mpfr.h>

#include <cmath>

#include "engine/check.h"

namespace assay::reference {
namespace {

// Room for a pair and for a rest that is far below it.
constexpr int kBits = 240;

class Number {
 public:
  Number() { mpfr_init2(x_, kBits); }
  explicit Number(Pair value) : Number() {
    mpfr_set_d(x_, value.hi, MPFR_RNDN);
    if (value.lo != 0) mpfr_add_d(x_, x_, value.lo, MPFR_RNDN);
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(x_); }
  mpfr_ptr get() { return x_; }

 private:
  mpfr_t x_;
};

void compute(Fn fn, mpfr_ptr r, mpfr_ptr x, mpfr_ptr y) {
  switch (fn) {
    case Fn::Recip: mpfr_ui_div(r, 1, x, MPFR_RNDN); return;
    case Fn::Div: mpfr_div(r, x, y, MPFR_RNDN); return;
    case Fn::Sqrt: mpfr_sqrt(r, x, MPFR_RNDN); return;
    case Fn::Exp: mpfr_exp(r, x, MPFR_RNDN); return;
    case Fn::Exp2: mpfr_exp2(r, x, MPFR_RNDN); return;
    case Fn::Log: mpfr_log(r, x, MPFR_RNDN); return;
    case Fn::Log2: mpfr_log2(r, x, MPFR_RNDN); return;
    case Fn::Sin: mpfr_sin(r, x, MPFR_RNDN); return;
    case Fn::Cos: mpfr_cos(r, x, MPFR_RNDN); return;
    case Fn::Tan: mpfr_tan(r, x, MPFR_RNDN); return;
    case Fn::Pow: mpfr_pow(r, x, y, MPFR_RNDN); return;
    default: ASSAY_CHECK(false, "{} is no function of analysis", name_of(fn));
  }
}

}  // namespace

Precise precise(Fn fn, Pair x, Pair y) {
  Number a(x);
  Number b(y);
  Number result;
  compute(fn, result.get(), a.get(), b.get());
  Precise r;
  r.wide = mpfr_get_ld(result.get(), MPFR_RNDN);
  r.result.hi = mpfr_get_d(result.get(), MPFR_RNDN);
  if (!std::isfinite(r.result.hi)) return r;
  mpfr_sub_d(result.get(), result.get(), r.result.hi, MPFR_RNDN);
  r.result.lo = mpfr_get_d(result.get(), MPFR_RNDN);
  return r;
}

double library(Fn fn, double x, double y) {
  switch (fn) {
    case Fn::Recip: return 1 / x;
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
    default: ASSAY_CHECK(false, "{} is no function of analysis", name_of(fn));
  }
}

}  // namespace assay::reference
