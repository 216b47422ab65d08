// Own functions against MPFR, evaluated as scalar graphs in which each operation is rounded once.
#include "engine/codegen/transcendental.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/rewrite.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::F32;
using uop::F64;
using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Value;

// A target with f64, and nothing native.
const uop::Target& plain_target() {
  static const uop::Target target = [] {
    uop::Target t = uop::generic_target();
    t.arithmetic = t.arithmetic | uop::TypeSet{F64};
    return t;
  }();
  return target;
}

// op at t, decomposed, of leaves "x" and "y".
class Function {
 public:
  Function(Op op, DType t) : op_(op), t_(t), evaluator_(g_, lowered()) {}

  // The leaves in the order of the evaluator, which is x before y.
  Value at(std::initializer_list<Value> x) {
    const std::vector<Value> values(x);
    const uop::Cell cell = evaluator_.run(values);
    EXPECT_TRUE(cell.defined());
    return cell.value;
  }
  size_t size() { return uop::count_ops(g_, root_); }

 private:
  Ref lowered() {
    const Ref x = g_.variable("x", t_);
    const Ref y = g_.variable("y", t_);
    const Ref u = op_ == Op::Pow ? g_.alu(op_, {x, y}) : g_.alu(op_, {x});
    uop::Run run(g_, {}, nullptr, plain_target());
    const uop::RuleSet* sets[] = {&transcendental_rules()};
    root_ = run.rewrite(sets, u).value();
    return root_;
  }

  Graph g_;
  Op op_;
  DType t_;
  Ref root_ = nullptr;
  uop::Evaluator evaluator_;
};

// The exact result, to 140 bits.
class Exact {
 public:
  Exact() {
    mpfr_init2(x_, 53);
    mpfr_init2(y_, 53);
    mpfr_inits2(140, r_, got_, nullptr);
  }
  ~Exact() { mpfr_clears(x_, y_, r_, got_, nullptr); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;

  void compute(Op op, double x, double y) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_set_d(y_, y, MPFR_RNDN);
    switch (op) {
      case Op::Exp: mpfr_exp(r_, x_, MPFR_RNDN); return;
      case Op::Exp2: mpfr_exp2(r_, x_, MPFR_RNDN); return;
      case Op::Log: mpfr_log(r_, x_, MPFR_RNDN); return;
      case Op::Log2: mpfr_log2(r_, x_, MPFR_RNDN); return;
      case Op::Sin: mpfr_sin(r_, x_, MPFR_RNDN); return;
      case Op::Cos: mpfr_cos(r_, x_, MPFR_RNDN); return;
      case Op::Tan: mpfr_tan(r_, x_, MPFR_RNDN); return;
      default: mpfr_pow(r_, x_, y_, MPFR_RNDN); return;
    }
  }

  // How far v is from the result, in units in the last place that the result has at t. Past the
  // largest number the next power of two stands for infinity.
  double ulps(DType t, double v) {
    if (mpfr_nan_p(r_)) return std::isnan(v) ? 0 : HUGE_VAL;
    if (std::isnan(v)) return HUGE_VAL;
    const uop::FloatFormat f = uop::format_of(t);
    if (mpfr_inf_p(r_)) return v == mpfr_get_d(r_, MPFR_RNDN) ? 0 : HUGE_VAL;
    if (mpfr_zero_p(r_)) {
      return v == 0 && std::signbit(v) == (mpfr_signbit(r_) != 0) ? 0 : HUGE_VAL;
    }
    if (std::signbit(v) != (mpfr_signbit(r_) != 0)) return HUGE_VAL;
    const mpfr_exp_t exponent = mpfr_get_exp(r_) - 1;
    const mpfr_exp_t unit = std::max<mpfr_exp_t>(exponent - f.mantissa_bits, f.min_exponent());
    if (std::isinf(v)) {
      if (exponent > f.max_exponent()) return 0;
      mpfr_set_ui_2exp(got_, 1, f.max_exponent() + 1, MPFR_RNDN);
      mpfr_abs(r_, r_, MPFR_RNDN);
    } else {
      mpfr_set_d(got_, v, MPFR_RNDN);
    }
    mpfr_sub(got_, got_, r_, MPFR_RNDN);
    mpfr_div_2si(got_, got_, unit, MPFR_RNDN);
    return std::fabs(mpfr_get_d(got_, MPFR_RNDN));
  }

 private:
  mpfr_t x_, y_, r_, got_;
};

struct Worst {
  double ulps = 0;
  double x = 0;
  double y = 0;
};

class Check {
 public:
  Check(Op op, DType t) : op_(op), t_(t), function_(op, t) {}

  void at(double x, double y = 0) {
    const Value vx = uop::of_double(t_, x);
    const Value vy = uop::of_double(t_, y);
    exact_.compute(op_, uop::as_double(vx), uop::as_double(vy));
    const Value got = op_ == Op::Pow ? function_.at({vx, vy}) : function_.at({vx});
    const double ulps = exact_.ulps(t_, uop::as_double(got));
    if (ulps > worst_.ulps) worst_ = {ulps, x, y};
    points_++;
  }
  void bits(uint64_t bits) { at(uop::as_double({t_, bits})); }
  // Numbers near x on both sides, and their negatives.
  void near(double x, int steps) {
    for (const double end : {HUGE_VAL, -HUGE_VAL}) {
      double v = uop::as_double(uop::of_double(t_, x));
      for (int i = 0; i < steps; i++) {
        at(v);
        at(-v);
        v = t_ == F32 ? std::nextafter(static_cast<float>(v), static_cast<float>(end))
                      : std::nextafter(v, end);
      }
    }
  }
  const Worst& worst() const { return worst_; }
  void report() {
    std::printf("%s %s: %.3f ulps at %a %a, %zu points, %zu operations\n",
                std::string(uop::to_text(op_)).c_str(), std::string(uop::to_text(t_)).c_str(),
                worst_.ulps, worst_.x, worst_.y, points_, function_.size());
  }

 private:
  Op op_;
  DType t_;
  Function function_;
  Exact exact_;
  Worst worst_;
  size_t points_ = 0;
};

struct Case {
  Op op;
  DType t;
};

std::string function_name(const testing::TestParamInfo<Case>& info) {
  return std::string(uop::to_text(info.param.op)) + "_" + std::string(uop::to_text(info.param.t));
}

class EveryFunction : public testing::TestWithParam<Case> {};

TEST_P(EveryFunction, IsWithinItsPromiseOverAllExponents) {
  const auto [op, t] = GetParam();
  const uop::FloatFormat f = uop::format_of(t);
  Check check(op, t);
  std::mt19937_64 random(1);
  const int exponents = 1 << f.exponent_bits;
  const uint64_t sign = uint64_t{1} << (uop::bits_of(t) - 1);
  const uint64_t fraction = (uint64_t{1} << f.mantissa_bits) - 1;
  const int samples = t == F32 ? 60 : 4;
  for (int e = 0; e < exponents; e++) {
    const uint64_t start = static_cast<uint64_t>(e) << f.mantissa_bits;
    for (const uint64_t s : {uint64_t{0}, sign}) {
      for (const uint64_t m : {uint64_t{0}, uint64_t{1}, fraction, fraction - 1}) {
        check.bits(s | start | m);
      }
      for (int i = 0; i < samples; i++) check.bits(s | start | (random() & fraction));
    }
  }
  check.report();
  EXPECT_LE(check.worst().ulps, *promised_ulps(op)) << check.worst().x;
}

TEST_P(EveryFunction, IsWithinItsPromiseWhereItMatters) {
  const auto [op, t] = GetParam();
  const uop::FloatFormat f = uop::format_of(t);
  Check check(op, t);
  std::mt19937_64 random(2);
  const int samples = t == F32 ? 10000 : 4000;
  for (int i = 0; i < samples; i++) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    for (const double scale : {2.0, 100.0, 800.0}) check.at((unit * 2 - 1) * scale);
    check.at(0.5 + unit * 1.5);
  }
  for (int k = 1; k < 400; k++) {
    check.near(k * M_PI_2, 3);
    check.near(std::ldexp(M_PI_2, 3 * k % 1000), 3);
    check.near(std::ldexp(1.0, 3 * k % 1000 - 500), 3);
    check.near(k, 2);
    check.near(k * M_LN2, 2);
  }
  // Where results overflow, underflow, and are subnormal.
  for (const double end :
       {f.max_exponent() + 1.0, f.min_exponent() + 0.0, f.min_exponent() - 1.0, 1.0 - f.bias()}) {
    check.near(end, 60);
    check.near(end * M_LN2, 60);
  }
  check.near(1, 100);
  check.near(0.7071067811865476, 100);
  check.report();
  EXPECT_LE(check.worst().ulps, *promised_ulps(op)) << check.worst().x;
}

class EveryPower : public testing::TestWithParam<DType> {};

TEST_P(EveryPower, IsWithinItsPromise) {
  const DType t = GetParam();
  Check check(Op::Pow, t);
  std::mt19937_64 random(3);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const double most = uop::format_of(t).max_exponent();
  for (int i = 0; i < 20000; i++) {
    // A base, and an exponent that takes it to any result, the subnormal ones too.
    const double base = std::exp2((unit() * 2 - 1) * (i % 2 == 0 ? 1 : most));
    const double log = std::log2(base);
    const double target = (unit() * 2.2 - 1.15) * most;
    if (log != 0) check.at(base, target / log);
    check.at(1 + (unit() - 0.5) * 0x1p-10, (unit() - 0.5) * most * 0x1p10);
    check.at(unit() * 100, unit() * 10);
    check.at(-std::floor(unit() * 50), std::floor(unit() * 40 - 20));
    check.bits(random());
  }
  check.report();
  EXPECT_LE(check.worst().ulps, 16) << check.worst().x << ", " << check.worst().y;
}

TEST_P(EveryPower, HasTheSpecialValuesOfC99) {
  const DType t = GetParam();
  Function function(Op::Pow, t);
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  const double tiny = uop::as_double({t, 1});
  const double huge = std::ldexp(1.0, uop::format_of(t).max_exponent());
  const double odd = t == F32 ? 0x1.fffffep23 : 0x1.fffffffffffffp52;
  const double values[] = {0,         1,    2,   3,   4,    0.5, 0.3,     3.3,     1.5,
                           0.9999999, tiny, inf, nan, huge, odd, 2 * odd, 4 * odd, 1 + 0x1p-20};
  for (const double vx : values) {
    for (const double vy : values) {
      for (const int signs : {0, 1, 2, 3}) {
        const Value x = uop::of_double(t, (signs & 1) != 0 ? -vx : vx);
        const Value y = uop::of_double(t, (signs & 2) != 0 ? -vy : vy);
        const Value operands[] = {x, y};
        const Value expected = *uop::eval(Op::Pow, t, operands);
        const Value got = function.at({x, y});
        const double e = uop::as_double(expected);
        if (std::isnan(e)) {
          EXPECT_TRUE(uop::is_nan(got)) << to_text(x) << " " << to_text(y);
        } else if (e == 0 || std::isinf(e) || std::fabs(e) == 1) {
          EXPECT_EQ(got, expected) << to_text(x) << " " << to_text(y) << " " << to_text(got);
        } else {
          EXPECT_NEAR(uop::as_double(got) / e, 1, 1e-5) << to_text(x) << " " << to_text(y);
        }
      }
    }
  }
}

TEST_P(EveryPower, TakesSmallPowersByProducts) {
  const DType t = GetParam();
  std::mt19937_64 random(4);
  Exact exact;
  for (const double n : {-1.0, 1.0, 2.0, 3.0, 4.0}) {
    Graph g;
    const Ref u = g.alu(Op::Pow, {g.variable("x", t), g.constant(uop::of_double(t, n))});
    uop::Run run(g, {}, nullptr, plain_target());
    const uop::RuleSet* sets[] = {&transcendental_rules()};
    const Ref after = run.rewrite(sets, u).value();
    EXPECT_LE(uop::count_ops(g, after), n < 0 ? 3U : 2U);
    uop::Evaluator evaluator(g, after);
    for (int i = 0; i < 2000; i++) {
      const Value x = {t, random() >> (64 - uop::bits_of(t))};
      exact.compute(Op::Pow, uop::as_double(x), n);
      EXPECT_LE(exact.ulps(t, uop::as_double(evaluator.run({&x, 1}).value)), 2) << to_text(x);
    }
    for (const double v : {0.0, -0.0, 1.0, -1.0, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      const Value x = uop::of_double(t, v);
      const Value operands[] = {x, uop::of_double(t, n)};
      const Value got = evaluator.run({&x, 1}).value;
      const Value expected = *uop::eval(Op::Pow, t, operands);
      EXPECT_TRUE(got == expected || (is_nan(got) && is_nan(expected))) << to_text(x) << " " << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Transcendental, EveryPower, testing::Values(F32, F64),
                         [](const auto& c) { return std::string(uop::to_text(c.param)); });

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Op op : {Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Tan}) {
    all.push_back({op, F32});
    all.push_back({op, F64});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Transcendental, EveryFunction, testing::ValuesIn(cases()), function_name);

}  // namespace
}  // namespace assay::codegen
