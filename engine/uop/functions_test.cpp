#include "engine/uop/functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/test_numbers.h"

// Functions of floats: correctly rounded at every type, and exact at the edges. Sums, products and
// the like are in arithmetic_test.cpp.
namespace assay::uop {
namespace {

using Real = long double;
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

struct Function {
  Op op;
  Real (*of)(Real);
};
constexpr Function kFunctions[] = {
    {Op::Exp, std::exp}, {Op::Exp2, std::exp2}, {Op::Log, std::log}, {Op::Log2, std::log2},
    {Op::Sin, std::sin}, {Op::Cos, std::cos},   {Op::Tan, std::tan},
};

Value applied(Op op, Value a) { return sure(eval(op, a.dtype, std::span(&a, 1))); }
Value applied(Op op, Value a, Value b) {
  const Value src[] = {a, b};
  return sure(eval(op, a.dtype, src));
}

// Whether `got` is the number of its type nearest to one within 2^-59 of y, which is the accuracy
// that the C library's long double functions are trusted with. A y of few bits is taken as exact:
// other results come that near to the middle of two numbers in one case of 2^30. `close` counts
// where two numbers are within the accuracy.
bool is_nearest(Value got, Real y, int* close) {
  if (!std::isfinite(y) || static_cast<double>(y) == y) return got == nearest(got.dtype, y);
  const Value low = nearest(got.dtype, y - std::fabs(y) * 0x1p-59L);
  const Value high = nearest(got.dtype, y + std::fabs(y) * 0x1p-59L);
  if (low != high) ++*close;
  return got == low || got == high;
}

TEST(Functions, AreCorrectlyRoundedOnEverySmallFloat) {
  for (const Function& f : kFunctions) {
    for (const DType t : kSmallFloats) {
      int close = 0;
      for (const Value a : all_values(t)) {
        const Value got = applied(f.op, a);
        ASSERT_TRUE(is_nearest(got, f.of(decode(a)), &close))
            << to_text(f.op) << " of " << show(a) << " is " << show(got);
      }
      EXPECT_EQ(close, 0) << to_text(f.op) << " " << to_text(t);
    }
  }
}

TEST(Functions, AreCorrectlyRoundedOnManySinglesAndDoubles) {
  for (const Function& f : kFunctions) {
    for (const DType t : {F32, F64}) {
      int close = 0;
      const std::vector<Value> values = some_values(t);
      for (const Value a : values) {
        const Value got = applied(f.op, a);
        ASSERT_TRUE(is_nearest(got, f.of(decode(a)), &close))
            << to_text(f.op) << " of " << show(a) << " is " << show(got);
      }
      // A double has eleven bits less than a long double, so some are too close to tell.
      EXPECT_LT(static_cast<size_t>(close), values.size() / 20) << to_text(f.op);
    }
  }
}

TEST(Functions, HaveTheirLimits) {
  for (const DType t : kAllFloats) {
    const auto at = [&](Real x) { return nearest(t, x); };
    const Value nan = default_nan(t);
    const Value inf = at(kInfinity);  // NaN in e4m3, and so are all that give it
    const Value minus_inf = at(-kInfinity);
    for (const Function& f : kFunctions) EXPECT_EQ(applied(f.op, nan), nan) << to_text(f.op);
    for (const Op op : {Op::Exp, Op::Exp2}) {
      EXPECT_EQ(applied(op, at(0)), at(1));
      EXPECT_EQ(applied(op, at(-0.0L)), at(1));
      EXPECT_EQ(applied(op, inf), inf);
      EXPECT_EQ(applied(op, at(1600)), inf);
      EXPECT_EQ(applied(op, minus_inf), t == E4M3 ? nan : at(0));
    }
    for (const Op op : {Op::Log, Op::Log2}) {
      EXPECT_EQ(applied(op, at(1)), at(0));
      EXPECT_EQ(applied(op, at(0)), minus_inf);
      EXPECT_EQ(applied(op, at(-0.0L)), minus_inf);
      EXPECT_EQ(applied(op, at(-1)), nan);
      EXPECT_EQ(applied(op, inf), inf);
    }
    for (const Op op : {Op::Sin, Op::Tan}) {
      EXPECT_EQ(applied(op, at(0)), at(0));
      EXPECT_EQ(applied(op, at(-0.0L)), at(-0.0L));
      EXPECT_EQ(applied(op, {t, 1}), (Value{t, 1}));  // x - x^3/6 rounds to x
    }
    EXPECT_EQ(applied(Op::Cos, at(-0.0L)), at(1));
    for (const Op op : {Op::Sin, Op::Cos, Op::Tan}) {
      EXPECT_EQ(applied(op, inf), nan);
      EXPECT_EQ(applied(op, minus_inf), nan);
    }
  }
}

TEST(Functions, ReachTheSubnormals) {
  EXPECT_EQ(applied(Op::Exp2, f32(-149)), (Value{F32, 1}));
  EXPECT_EQ(applied(Op::Exp2, f32(-150)), f32(0));  // half the least: to even
  EXPECT_EQ(applied(Op::Exp2, f32(-149.5F)), (Value{F32, 1}));
  EXPECT_EQ(applied(Op::Exp2, f64(-1074)), (Value{F64, 1}));
  EXPECT_EQ(applied(Op::Exp2, f64(-1075)), f64(0));
  EXPECT_EQ(applied(Op::Exp2, f64(std::nextafter(-1075, 0))), (Value{F64, 1}));
  EXPECT_EQ(applied(Op::Log2, (Value{F64, 1})), f64(-1074));
  EXPECT_EQ(applied(Op::Log2, (Value{F32, 1})), f32(-149));
  EXPECT_EQ(applied(Op::Exp2, f32(std::nextafterf(128, 0))), f32(0x1.ffff4ep127F));
}

// The number nearest to zero that is whole and on the right side, found with 64-bit integers.
Real whole(Op op, Real x) {
  if (std::isnan(x) || std::fabs(x) >= 0x1p62L) return x;
  const auto cut = static_cast<int64_t>(x);
  const Real rest = x - static_cast<Real>(cut);  // exact, of the sign of x
  int64_t n = cut;
  if (op == Op::Floor && rest < 0) n--;
  if (op == Op::Ceil && rest > 0) n++;
  if (op == Op::Round) {
    const Real size = std::fabs(rest);
    if (size > 0.5L || (size == 0.5L && cut % 2 != 0)) n += x > 0 ? 1 : -1;
  }
  return n == 0 ? std::copysign(0.0L, x) : static_cast<Real>(n);
}

TEST(Functions, RoundToWholeNumbersByTheirDefinition) {
  Ledger ledger;
  for (const Op op : {Op::Trunc, Op::Floor, Op::Ceil, Op::Round}) {
    for (const DType t : kAllFloats) {
      for (const Value a : some_values(t)) {
        ledger.same(to_text(op), {{a}}, applied(op, a), nearest(t, whole(op, decode(a))));
      }
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Functions, TakeSquareRootsAndReciprocalsRoundedOnce) {
  Ledger ledger;
  for (const DType t : kAllFloats) {
    for (const Value a : some_values(t)) {
      // A root or quotient of p bits is never within 2^-2p-2 of the middle of two neighbours, so 64
      // bits decide for all types but f64, where the processor does.
      const Real x = decode(a);
      const Value root =
          t == F64 ? f64(std::sqrt(static_cast<double>(x))) : nearest(t, std::sqrt(x));
      const Value inverse = t == F64 ? f64(1 / static_cast<double>(x)) : nearest(t, 1 / x);
      const Value nan = default_nan(t);
      ledger.same("sqrt", {{a}}, applied(Op::Sqrt, a), x < 0 || std::isnan(x) ? nan : root);
      ledger.same("recip", {{a}}, applied(Op::Recip, a), std::isnan(x) ? nan : inverse);
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

// Neg is not arithmetic: it flips a bit, of a NaN too.
TEST(Functions, NegateByTheSignBit) {
  Ledger ledger;
  for (const DType t : kAllFloats) {
    const uint64_t sign = uint64_t{1} << (bits_of(t) - 1);
    for (const Value a : some_values(t)) {
      ledger.same("neg", {{a}}, applied(Op::Neg, a), Value{t, a.bits ^ sign});
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Pow, IsCorrectlyRoundedOnAllPairsOf8Bits) {
  for (const DType t : {E4M3, E5M2}) {
    const std::vector<Value> all = all_values(t);
    int close = 0;
    for (const Value a : all) {
      for (const Value b : all) {
        const Value got = applied(Op::Pow, a, b);
        ASSERT_TRUE(is_nearest(got, std::pow(decode(a), decode(b)), &close))
            << show(a) << " to " << show(b) << " is " << show(got);
      }
    }
    EXPECT_EQ(close, 0) << to_text(t);
  }
}

TEST(Pow, IsAProductOrARootWhereThatIsExact) {
  Ledger ledger;
  for (const DType t : kSmallFloats) {
    const auto at = [&](Real x) { return nearest(t, x); };
    for (const Value a : all_values(t)) {
      const Real x = decode(a);
      // Products of three have at most 33 bits.
      ledger.same("pow 1", {{a}}, applied(Op::Pow, a, at(1)), at(x));
      ledger.same("pow 2", {{a}}, applied(Op::Pow, a, at(2)), at(x * x));
      ledger.same("pow 3", {{a}}, applied(Op::Pow, a, at(3)), at(x * x * x));
      ledger.same("pow -1", {{a}}, applied(Op::Pow, a, at(-1)), at(1 / x));
      if (x > 0) ledger.same("pow 0.5", {{a}}, applied(Op::Pow, a, at(0.5L)), at(std::sqrt(x)));
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Pow, IsCorrectlyRoundedOnManyPairs) {
  for (const DType t : {F16, BF16, F32}) {
    Random random(5);
    int close = 0;
    for (int i = 0; i < 30000; i++) {
      const Value a = any_bits(random, t);
      const Value b = any_bits(random, t);
      const Value got = applied(Op::Pow, a, b);
      ASSERT_TRUE(is_nearest(got, std::pow(decode(a), decode(b)), &close))
          << show(a) << " to " << show(b) << " is " << show(got);
    }
    EXPECT_EQ(close, 0) << to_text(t);
  }
}

// C99, F.9.4.4.
TEST(Pow, HasTheEdgesOfC99) {
  struct Row {
    double base, exponent, result;
  };
  const double inf = INFINITY;
  const Row rows[] = {
      {0, -3, inf},      {-0.0, -3, -inf}, {0, -2, inf},     {-0.0, -2, inf},   {0, -0.5, inf},
      {-0.0, -0.5, inf}, {0, 3, 0},        {-0.0, 3, -0.0},  {-0.0, 2, 0},      {-0.0, 0.5, 0},
      {-1, inf, 1},      {-1, -inf, 1},    {1, inf, 1},      {1, NAN, 1},       {1, -3, 1},
      {NAN, 0, 1},       {NAN, -0.0, 1},   {inf, 0, 1},      {-inf, -0.0, 1},   {0, 0, 1},
      {-2, 0.5, NAN},    {-2, -1.5, NAN},  {0.5, -inf, inf}, {-0.5, -inf, inf}, {2, -inf, 0},
      {-2, -inf, 0},     {0.5, inf, 0},    {-0.5, inf, 0},   {2, inf, inf},     {-2, inf, inf},
      {-inf, -3, -0.0},  {-inf, -2, 0},    {-inf, -0.5, 0},  {-inf, 3, -inf},   {-inf, 2, inf},
      {-inf, 0.5, inf},  {inf, -2, 0},     {inf, 2, inf},    {NAN, 1, NAN},     {2, NAN, NAN},
      {-8, 3, -512},     {-2, -1, -0.5},   {0.25, 0.5, 0.5}, {-1, 0.5, NAN},    {0, NAN, NAN},
  };
  Ledger ledger;
  for (const DType t : {E5M2, F16, BF16, F32, F64}) {
    for (const Row& row : rows) {
      const Value a = nearest(t, row.base);
      const Value b = nearest(t, row.exponent);
      ledger.same("pow", {{a, b}}, applied(Op::Pow, a, b), nearest(t, row.result));
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

}  // namespace
}  // namespace assay::uop
