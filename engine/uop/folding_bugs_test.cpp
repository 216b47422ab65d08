#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/test_numbers.h"

// Public bugs of compilers of this kind that lie in the meaning of operations, by their numbers.
// Each check is a predicate over an evaluator: ours passes it, the wrong variant does not.
namespace assay::uop {
namespace {

using Eval = std::optional<Value> (*)(Op, DType, std::span<const Value>);

std::optional<Value> call(Eval f, Op op, Value a, Value b) {
  const Value src[] = {a, b};
  return f(op, info(op).typing == Typing::Compare ? Bool : a.dtype, std::span(src));
}
std::optional<Value> call(Eval f, Op op, Value a) { return f(op, a.dtype, std::span(&a, 1)); }

using Intern = const void* (*)(Graph&, Value);

bool keeps_constants_apart(Intern intern) {
  Graph g;
  for (const DType t : kAllFloats) {
    const Value zero = nearest(t, 0);
    const Value minus_zero = nearest(t, -0.0L);
    const Value nan = default_nan(t);
    const Value other_nan = {t, nan.bits | uint64_t{1} << (bits_of(t) - 1)};
    if (intern(g, zero) == intern(g, minus_zero)) return false;
    if (intern(g, nan) != intern(g, nan) || intern(g, nan) == intern(g, other_nan)) return false;
  }
  return intern(g, f32(1)) == intern(g, f32(1)) && intern(g, f32(1)) != intern(g, f64(1));
}

// Finds a constant by the equality of numbers.
const void* intern_by_number(Graph& g, Value v) {
  for (uint32_t id = 0; id < g.size(); id++) {
    const Ref u = g.at(id);
    if (is_const(u) && u->dtype == v.dtype && decode(u->value()) == decode(v)) return u;
  }
  return g.constant(v);
}

TEST(FoldingBugs, B046ZerosOfBothSignsAreTwoConstants) {
  EXPECT_TRUE(
      keeps_constants_apart([](Graph& g, Value v) -> const void* { return g.constant(v); }));
  EXPECT_FALSE(keeps_constants_apart(intern_by_number));
  Graph g;
  const Ref one = g.constant(f32(1));
  const Ref plus = g.alu(Op::FDiv, {one, g.constant(f32(0))});
  const Ref minus = g.alu(Op::FDiv, {one, g.constant(f32(-0.0F))});
  EXPECT_EQ(Evaluator(g, plus).run({}).value, f32(INFINITY));
  EXPECT_EQ(Evaluator(g, minus).run({}).value, f32(-INFINITY));
}

bool wraps_before_the_next_op(Eval f) {
  const Value minus_6 = sure(call(f, Op::Neg, held(U8, uint8_t{6})));
  const Value minus_7 = sure(call(f, Op::Neg, held(U8, uint8_t{7})));
  const Value minus_200 = sure(call(f, Op::Neg, held(U8, uint8_t{200})));
  const Value difference = sure(call(f, Op::Sub, held(U16, uint16_t{1}), held(U16, uint16_t{2})));
  const Value product = sure(call(f, Op::Mul, held(I8, int8_t{100}), held(I8, int8_t{2})));
  const Value sum = sure(call(f, Op::Add, sure(cast(minus_7, F32)), f32(1.541F)));
  const Value wide = sure(cast(minus_200, I64));
  return call(f, Op::Lt, minus_6, held(U8, uint8_t{4})) == of_bool(false) &&
         sum == f32(249 + 1.541F) && wide == held(I64, int64_t{56}) &&
         cast(difference, I64) == held(I64, int64_t{65535}) && cast(product, I32) == held(I32, -56);
}

// Computes narrow integers at 32 bits and leaves the result there.
std::optional<Value> eval_as_int(Op op, DType t, std::span<const Value> src) {
  if (info(op).typing == Typing::Compare) return of_bool(as_int(src[0]) < as_int(src[1]));
  if (!is_fixed_int(t)) return eval(op, t, src);
  std::vector<Value> wide;
  for (const Value v : src) wide.push_back(sure(cast(v, I32)));
  return eval(op, I32, wide);
}

TEST(FoldingBugs, B110NarrowIntegersWrapBeforeTheNextOp) {
  EXPECT_TRUE(wraps_before_the_next_op(eval));
  EXPECT_FALSE(wraps_before_the_next_op(eval_as_int));
}

using Join = std::optional<DType> (*)(DType, DType);

bool compares_with_fractions(Join join) {
  const DType t = sure(join(I64, F32));
  const Value three = sure(cast(held(I64, int64_t{3}), t));
  const Value fraction = sure(cast(f32(3.5F), t));
  // 3 >= 3.5 is false, since 3 < 3.5.
  return call(eval, Op::Lt, three, fraction) == of_bool(true);
}

TEST(FoldingBugs, B111IntegersComparedWithFractionsBecomeFloats) {
  EXPECT_TRUE(compares_with_fractions(promote));
  EXPECT_FALSE(compares_with_fractions([](DType tensor, DType) { return std::optional(tensor); }));
}

bool finds_the_least_integer(Eval f) {
  const Value least = held(I32, INT32_MIN);
  const auto u8 = [](int x) { return held(U8, static_cast<uint8_t>(x)); };
  Value m = u8(0);
  for (const int x : {128, 255, 64}) m = sure(call(f, Op::Min, m, u8(x)));
  return call(f, Op::Min, held(I32, 0), least) == least &&
         call(f, Op::Min, held(I32, INT32_MAX), least) == least && m == u8(0);
}

// min(a, b) as -max(-a, -b), which a least integer and all unsigned ones break.
std::optional<Value> eval_min_by_negation(Op op, DType t, std::span<const Value> src) {
  if (op != Op::Min) return eval(op, t, src);
  const Value a = sure(call(eval, Op::Neg, src[0]));
  const Value b = sure(call(eval, Op::Neg, src[1]));
  return call(eval, Op::Neg, sure(call(eval, Op::Max, a, b)));
}

TEST(FoldingBugs, B113MinOfIntegersNeedsNoNegation) {
  EXPECT_TRUE(finds_the_least_integer(eval));
  EXPECT_FALSE(finds_the_least_integer(eval_min_by_negation));
}

bool holds_on_unsigned(Eval f) {
  const Value difference = sure(call(f, Op::Sub, held(U32, 1U), held(U32, 2U)));
  const Value m = sure(call(f, Op::Min, held(U8, uint8_t{0}), held(U8, uint8_t{128})));
  // The absolute value of an unsigned number is max(x, 0).
  return call(f, Op::Max, difference, held(U32, 0U)) == held(U32, 4294967295U) &&
         m == held(U8, uint8_t{0});
}

TEST(FoldingBugs, B114MinAndDifferencesOfUnsignedStayUnsigned) {
  EXPECT_TRUE(holds_on_unsigned(eval));
  EXPECT_FALSE(holds_on_unsigned(eval_min_by_negation));
}

bool inverts_signed_bits(Eval f) {
  const Value inverted = sure(call(f, Op::Not, held(I32, 0)));
  return inverted == held(I32, -1) && call(f, Op::Lt, inverted, held(I32, 0)) == of_bool(true) &&
         call(f, Op::Not, held(I32, 2)) == held(I32, -3);
}

TEST(FoldingBugs, B115NotOfSignedIsSigned) {
  EXPECT_TRUE(inverts_signed_bits(eval));
  EXPECT_FALSE(inverts_signed_bits([](Op op, DType t, std::span<const Value> src) {
    if (op != Op::Not) return eval(op, t, src);
    return std::optional(Value{t, src[0].bits ^ 0xffffffff});  // 2^32 - 1 is no i32
  }));
}

using Power = Value (*)(Value, Value);

Value power(Value base, Value exponent) {
  const DType t = sure(promote(base.dtype, exponent.dtype));
  return sure(call(eval, Op::Pow, sure(cast(base, t)), sure(cast(exponent, t))));
}

bool keeps_the_kind_of_powers(Power f) {
  const float roots[] = {1, 1.41421356F, 1.73205081F, 2};
  for (int i = 1; i <= 4; i++) {
    if (f(held(I32, i), f32(0.5F)) != f32(roots[i - 1])) return false;
  }
  return f(held(I32, 2), held(I32, -2)) == held(I32, 0);
}

TEST(FoldingBugs, B117PowerOfIntegerAndFloatIsAFloat) {
  EXPECT_TRUE(keeps_the_kind_of_powers(power));
  EXPECT_FALSE(keeps_the_kind_of_powers(
      [](Value base, Value exponent) { return sure(cast(power(base, exponent), base.dtype)); }));
}

bool has_powers_of_infinity(Eval f) {
  const auto pow = [&](float a, float b) { return call(f, Op::Pow, f32(a), f32(b)); };
  return pow(-INFINITY, 0.3F) == f32(INFINITY) && pow(-INFINITY, 3.3F) == f32(INFINITY) &&
         pow(-INFINITY, 3) == f32(-INFINITY) && pow(INFINITY, 0) == f32(1) &&
         pow(-INFINITY, 0) == f32(1) && pow(0, 0) == f32(1);
}

TEST(FoldingBugs, B118PowersOfInfinityAndToZero) {
  EXPECT_TRUE(has_powers_of_infinity(eval));
  EXPECT_FALSE(has_powers_of_infinity([](Op, DType, std::span<const Value> src) {
    const double a = as_double(src[0]);
    const double b = as_double(src[1]);
    if (b == 0) return std::optional(f32(1));
    const bool odd = a < 0 && static_cast<int>(b) % 2 != 0;  // of fractions too
    const double size = std::exp2(b * std::log2(std::fabs(a)));
    return std::optional(f32(static_cast<float>(odd ? -size : size)));
  }));
  EXPECT_FALSE(has_powers_of_infinity([](Op, DType, std::span<const Value> src) {
    const double size = std::exp2(as_double(src[1]) * std::log2(as_double(src[0])));
    return std::optional(f32(static_cast<float>(size)));  // NaN for every negative base
  }));
}

// Of all arguments up to 1e8, the error against a long double.
bool keeps_phase(Eval f) {
  for (const float x : {1e3F, 12345.7F, 1e6F, 1e7F, 1e8F}) {
    const auto y = static_cast<long double>(x);
    const auto is = [&](Op op, long double want) {
      return std::fabs(decode(sure(call(f, op, f32(x)))) - want) <= 1e-6L * std::fabs(want);
    };
    if (!is(Op::Cos, std::cos(y)) || !is(Op::Sin, std::sin(y)) || !is(Op::Tan, std::tan(y))) {
      return false;
    }
  }
  return true;
}

TEST(FoldingBugs, B121CosineOfLargeNumbersKeepsItsPhase) {
  EXPECT_TRUE(keeps_phase(eval));
  EXPECT_FALSE(keeps_phase([](Op op, DType t, std::span<const Value> src) {
    if (op != Op::Cos) return eval(op, t, src);
    const Value quarter = f32(std::numbers::pi_v<float> / 2);
    return call(eval, Op::Sin, sure(call(eval, Op::Sub, quarter, src[0])));
  }));
}

bool has_constants_of_its_type(Eval f) {
  const double sine = as_double(sure(call(f, Op::Sin, f64(39800))));
  return std::fabs(sine - 0.74285722) < 1e-8 && call(f, Op::Log2, f64(0x1p-1022)) == f64(-1022) &&
         call(f, Op::Log2, f32(0x1p-126F)) == f32(-126) &&
         call(f, Op::Log2, nearest(F16, 0x1p-14L)) == nearest(F16, -14);
}

TEST(FoldingBugs, B122FunctionsUseTheConstantsOfTheirType) {
  EXPECT_TRUE(has_constants_of_its_type(eval));
  EXPECT_FALSE(has_constants_of_its_type([](Op op, DType t, std::span<const Value> src) {
    return cast(sure(call(eval, op, sure(cast(src[0], F32)))), t);
  }));
  EXPECT_FALSE(has_constants_of_its_type([](Op op, DType t, std::span<const Value> src) {
    if (op != Op::Sin) return eval(op, t, src);
    // Reduced by an f32 of 2 pi.
    const double turn = 2 * std::numbers::pi_v<float>;
    return call(eval, op, f64(std::fmod(as_double(src[0]), turn)));
  }));
}

bool propagates_nan(Eval f) {
  for (const DType t : kAllFloats) {
    const Value nan = default_nan(t);
    const Value other = {t, nan.bits | uint64_t{1} << (bits_of(t) - 1)};
    for (const long double x : {1.0L, -1.0L, 0.0L, static_cast<long double>(INFINITY)}) {
      const Value v = nearest(t, x);
      for (const Op op : {Op::Max, Op::Min}) {
        if (call(f, op, v, nan) != nan || call(f, op, nan, v) != nan) return false;
        if (call(f, op, v, other) != nan || call(f, op, other, v) != nan) return false;
      }
    }
  }
  return true;
}

TEST(FoldingBugs, B123MaxAndMinPropagateNanFromEitherSide) {
  EXPECT_TRUE(propagates_nan(eval));
  EXPECT_FALSE(propagates_nan([](Op op, DType, std::span<const Value> src) {
    const bool below = as_double(src[0]) < as_double(src[1]);  // drops a NaN of one side
    return std::optional(below == (op == Op::Max) ? src[1] : src[0]);
  }));
  EXPECT_FALSE(propagates_nan([](Op op, DType t, std::span<const Value> src) {
    const double a = as_double(src[0]);
    const double b = as_double(src[1]);  // the C library prefers numbers
    return std::optional(of_double(t, op == Op::Max ? std::fmax(a, b) : std::fmin(a, b)));
  }));
}

bool takes_the_least_by_minus_one(Eval f) {
  const Value least = held(I32, INT32_MIN);
  const Value wide = held(I64, INT64_MIN);
  const Value i32 = held(I32, -1);
  const Value i64 = held(I64, int64_t{-1});
  for (const Op op : {Op::Div, Op::TDiv}) {
    if (call(f, op, least, i32) != least || call(f, op, wide, i64) != wide) return false;
  }
  for (const Op op : {Op::Mod, Op::TMod}) {
    if (call(f, op, least, i32) != held(I32, 0)) return false;
    if (call(f, op, wide, i64) != held(I64, int64_t{0})) return false;
  }
  return true;
}

TEST(FoldingBugs, B184LeastIntegerByMinusOneDoesNotTrap) {
  EXPECT_TRUE(takes_the_least_by_minus_one(eval));
  // What one device gives: -1 for the remainder.
  EXPECT_FALSE(takes_the_least_by_minus_one([](Op op, DType t, std::span<const Value> src) {
    const bool trap = as_int(src[0]) == min_int(t) && as_int(src[1]) == -1;
    const bool remainder = op == Op::Mod || op == Op::TMod;
    return trap && remainder ? std::optional(of_int(t, -1)) : eval(op, t, src);
  }));
  // What a saturating device gives for the quotient.
  EXPECT_FALSE(takes_the_least_by_minus_one([](Op op, DType t, std::span<const Value> src) {
    const Int128 q = op == Op::Div || op == Op::TDiv ? as_int(src[0]) / as_int(src[1]) : 0;
    return q > max_int(t) ? std::optional(of_int(t, max_int(t))) : eval(op, t, src);
  }));
}

bool keeps_infinity_whole(Eval f) {
  for (const Op op : {Op::Trunc, Op::Floor, Op::Ceil, Op::Round}) {
    for (const DType t : {E5M2, F16, BF16, F32, F64}) {
      for (const long double x : {INFINITY, -INFINITY, NAN, 0x1p60F}) {
        const Value v = nearest(t, x);
        if (call(f, op, v) != v) return false;
      }
    }
    if (call(f, op, f64(0x1p100)) != f64(0x1p100)) return false;
  }
  return true;
}

TEST(FoldingBugs, B198TruncOfInfinityAndNan) {
  EXPECT_TRUE(keeps_infinity_whole(eval));
  EXPECT_FALSE(keeps_infinity_whole([](Op, DType t, std::span<const Value> src) {
    const std::optional<Value> whole = cast(src[0], I64);
    return cast(whole ? *whole : held(I64, INT64_MIN), t);
  }));
}

}  // namespace
}  // namespace assay::uop
