#include "oracles/reference/bounded.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "oracles/reference/test_device.h"

namespace assay::reference {
namespace {

using enum uop::DType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Bounded at(DType t, double x) { return of_double(t, x); }
Bounded integer(DType t, int64_t x) { return of_integer(t, x); }
Bounded within(double value, double bound) {
  Bounded r;
  r.value = value;
  r.bound = bound;
  r.certainty = Certainty::Bounded;
  return r;
}
Bounded loose() {
  Bounded r;
  r.loose_zero = true;
  return r;
}

// What is known of fn(x, y), for short.
std::string f32(Fn fn, const Bounded& x, const Bounded& y = {}, const Bounded& z = {}) {
  const Bounded r = apply(fn, F32, x, y, z);
  if (r.certainty == Certainty::Unspecified) return "unspecified";
  if (r.certainty == Certainty::Ambiguous) return "ambiguous";
  if (!r.is_exact()) return fmt::format("{:.6g} +- {:.3g}", r.value, r.bound);
  if (r.loose_zero) return "+-0";
  if (std::isnan(r.value)) return "nan";
  return fmt::format("{:.9g}", r.value);
}
std::string f32(Fn fn, double x, double y = 0, double z = 0) {
  return f32(fn, at(F32, x), at(F32, y), at(F32, z));
}
int64_t i(DType t, Fn fn, int64_t x, int64_t y = 0, int64_t z = 0) {
  const Bounded r = apply(fn, t, integer(t, x), integer(t, y), integer(t, z));
  return r.is_exact() ? r.integer : -999999;
}
bool is_unspecified(DType t, Fn fn, int64_t x, int64_t y) {
  return apply(fn, t, integer(t, x), integer(t, y)).certainty == Certainty::Unspecified;
}

TEST(Integers, WrapAtTheirWidth) {
  EXPECT_EQ(i(U8, Fn::Add, 250, 10), 4);
  EXPECT_EQ(i(I8, Fn::Mul, 100, 100), 16);
  EXPECT_EQ(i(I8, Fn::Neg, -128), -128);
  EXPECT_EQ(i(I8, Fn::Abs, -128), -128);
  EXPECT_EQ(i(U16, Fn::Not, 0), 65535);
  EXPECT_EQ(i(Bool, Fn::Not, 1), 0);
  EXPECT_EQ(i(U64, Fn::Mul, -1, -1), 1);
  EXPECT_EQ(i(I64, Fn::Square, int64_t{1} << 33), 0);
  EXPECT_EQ(i(I32, Fn::Fma, 1 << 30, 4, 7), 7);
}

TEST(Integers, DivideBothWays) {
  EXPECT_EQ(i(I32, Fn::IDiv, -7, 2), -4);
  EXPECT_EQ(i(I32, Fn::Mod, -7, 2), 1);
  EXPECT_EQ(i(I32, Fn::Mod, 7, -2), -1);
  EXPECT_EQ(i(I32, Fn::TDiv, -7, 2), -3);
  EXPECT_EQ(i(I32, Fn::TMod, -7, 2), -1);
  EXPECT_EQ(i(I64, Fn::IDiv, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(i(I64, Fn::TMod, INT64_MIN, -1), 0);
  EXPECT_EQ(i(U64, Fn::IDiv, -1, 2), INT64_MAX);
  for (const Fn fn : {Fn::IDiv, Fn::Mod, Fn::TDiv, Fn::TMod}) {
    EXPECT_TRUE(is_unspecified(I32, fn, 5, 0)) << name_of(fn);
  }
}

TEST(Integers, ShiftBelowTheirWidth) {
  EXPECT_EQ(i(U8, Fn::Shl, 0x81, 1), 2);
  EXPECT_EQ(i(I8, Fn::Shr, -128, 7), -1);
  EXPECT_EQ(i(U64, Fn::Shr, -1, 63), 1);
  EXPECT_TRUE(is_unspecified(U8, Fn::Shl, 1, 8));
  EXPECT_TRUE(is_unspecified(I32, Fn::Shr, 1, -1));
  EXPECT_TRUE(is_unspecified(U64, Fn::Shr, 1, -1));
}

TEST(Integers, HavePowers) {
  EXPECT_EQ(i(I32, Fn::Pow, 3, 4), 81);
  EXPECT_EQ(i(U8, Fn::Pow, 2, 8), 0);
  EXPECT_EQ(i(I32, Fn::Pow, 0, 0), 1);
  EXPECT_EQ(i(I32, Fn::Pow, 2, -1), 0);
  EXPECT_EQ(i(I32, Fn::Pow, -1, -3), -1);
  EXPECT_EQ(i(I8, Fn::Pow, -2, 7), -128);
  EXPECT_TRUE(is_unspecified(I32, Fn::Pow, 0, -1));
}

TEST(Integers, CompareAsNumbers) {
  EXPECT_EQ(i(U64, Fn::Lt, 1, -1), 1);
  EXPECT_EQ(i(I64, Fn::Lt, 1, -1), 0);
  EXPECT_EQ(i(U64, Fn::Max, 1, -1), -1);
  EXPECT_EQ(i(Bool, Fn::Lt, 0, 1), 1);
  EXPECT_EQ(i(I8, Fn::Sign, -5), -1);
}

// Known answers of Random123 for threefry2x32 with 20 rounds.
TEST(Integers, GiveThePublishedRandomBits) {
  const auto threefry = [](uint64_t counter, uint64_t key) {
    const Bounded r = apply(Fn::Threefry, U64, of_integer(U64, counter), of_integer(U64, key));
    return static_cast<uint64_t>(r.integer);
  };
  EXPECT_EQ(threefry(0, 0), 0x99ba4efe6b200159);
  EXPECT_EQ(threefry(~uint64_t{0}, ~uint64_t{0}), 0xbb002be71cb996fc);
  EXPECT_EQ(threefry(0x85a308d3243f6a88, 0x0370734413198a2e), 0x483df7a0c4923a9c);
}

TEST(Floats, StayExactWhereNothingIsRounded) {
  EXPECT_EQ(f32(Fn::Add, 3, 4), "7");
  EXPECT_EQ(f32(Fn::Mul, 1.5, -4), "-6");
  EXPECT_EQ(f32(Fn::Fma, 3, 4, 0.5), "12.5");
  EXPECT_EQ(f32(Fn::Max, within(1, 0.25), at(F32, 3)), "3");
  EXPECT_EQ(f32(Fn::Where, integer(Bool, 1), at(F32, 3), unspecified()), "3");
  EXPECT_EQ(f32(Fn::Mul, within(1, 0.25), at(F32, 0)), "0");
}

TEST(Floats, RoundASumOnceAndLeaveAProduct) {
  EXPECT_EQ(f32(Fn::Add, 16777216, 1), "16777216");
  EXPECT_EQ(f32(Fn::Add, 1, 0x1p-24 + 0x1p-47), "1.00000012");
  const Bounded r = apply(Fn::Mul, F32, at(F32, 1 + 0x1p-23), at(F32, 1 + 0x1p-23));
  EXPECT_EQ(r.value, (1 + 0x1p-23) * (1 + 0x1p-23));
  EXPECT_NEAR(r.bound, 0x1p-24, 0x1p-50);
}

TEST(Floats, KnowTheSignsOfZeros) {
  EXPECT_EQ(f32(Fn::Add, -0.0, -0.0), "-0");
  EXPECT_EQ(f32(Fn::Add, 0.0, -0.0), "0");
  EXPECT_EQ(f32(Fn::Sub, 5, 5), "0");
  EXPECT_EQ(f32(Fn::Add, loose(), at(F32, -0.0)), "+-0");
  EXPECT_EQ(f32(Fn::Add, loose(), at(F32, 0.0)), "0");
  EXPECT_EQ(f32(Fn::Mul, -3, 0), "-0");
  EXPECT_EQ(f32(Fn::Mul, within(0, 1), at(F32, 0)), "+-0");
  EXPECT_EQ(f32(Fn::Max, -0.0, 0.0), "0");
  EXPECT_EQ(f32(Fn::Min, 0.0, -0.0), "-0");
  EXPECT_EQ(f32(Fn::Max, loose(), at(F32, -0.0)), "+-0");
  EXPECT_EQ(f32(Fn::Recip, loose()), "ambiguous");
  EXPECT_EQ(f32(Fn::CopySign, at(F32, 1), loose()), "ambiguous");
  EXPECT_EQ(f32(Fn::CopySign, 1, -0.0), "-1");
  EXPECT_EQ(f32(Fn::Trunc, -0.5), "-0");
  EXPECT_EQ(f32(Fn::Ceil, within(-0.5, 0.25)), "-0");
  EXPECT_EQ(f32(Fn::Round, within(0, 0.25)), "+-0");
}

TEST(Floats, PassOnNans) {
  EXPECT_EQ(f32(Fn::Max, kNaN, 1), "nan");
  EXPECT_EQ(f32(Fn::Min, 1, kNaN), "nan");
  EXPECT_EQ(f32(Fn::Sub, kInf, kInf), "nan");
  EXPECT_EQ(f32(Fn::Mul, kInf, 0), "nan");
  EXPECT_EQ(f32(Fn::Div, 0, 0), "nan");
  EXPECT_EQ(f32(Fn::Sin, kInf), "nan");
  EXPECT_EQ(apply(Fn::Lt, F32, at(F32, kNaN), at(F32, 1)).integer, 0);
  EXPECT_EQ(apply(Fn::Ne, F32, at(F32, kNaN), at(F32, kNaN)).integer, 1);
  EXPECT_EQ(apply(Fn::IsNan, F32, at(F32, kNaN)).integer, 1);
}

TEST(Floats, OverflowOnlyWhereAllDo) {
  const double largest = std::numeric_limits<float>::max();
  EXPECT_EQ(f32(Fn::Add, largest, largest), "inf");
  EXPECT_EQ(f32(Fn::Add, within(largest, 0x1p104), at(F32, 0x1p103)), "ambiguous");
  // A contraction may bring it back.
  EXPECT_EQ(f32(Fn::Mul, largest, 1.5), "ambiguous");
  EXPECT_EQ(f32(Fn::Mul, largest, -3), "-inf");
  const Bounded product = apply(Fn::Mul, F32, at(F32, largest), at(F32, 3));
  EXPECT_EQ(f32(Fn::Add, product, at(F32, -kInf)), "ambiguous");
  EXPECT_EQ(f32(Fn::Exp, 89), "inf");
  EXPECT_EQ(f32(Fn::Exp2, 129), "inf");
  // Less than a unit above the range, a device may be in it.
  EXPECT_EQ(f32(Fn::Exp2, 128), "ambiguous");
  EXPECT_EQ(apply(Fn::Exp, F64, at(F64, 710)).value, kInf);
  EXPECT_TRUE(std::isnan(apply(Fn::Log, E4M3, at(E4M3, 0)).value));
}

TEST(Floats, AreAmbiguousAtJumps) {
  EXPECT_EQ(f32(Fn::Floor, within(2.9, 0.05)), "2");
  EXPECT_EQ(f32(Fn::Floor, within(2.99, 0.05)), "ambiguous");
  EXPECT_EQ(f32(Fn::Sign, within(0.1, 0.2)), "ambiguous");
  EXPECT_EQ(apply(Fn::Lt, F32, within(1, 0.1), at(F32, 1.2)).integer, 1);
  EXPECT_EQ(apply(Fn::Lt, F32, within(1, 0.1), at(F32, 1.05)).certainty, Certainty::Ambiguous);
  EXPECT_EQ(apply(Fn::Eq, F32, within(1, 0.1), at(F32, 1.05)).certainty, Certainty::Ambiguous);
  EXPECT_EQ(f32(Fn::Div, at(F32, 1), within(0.1, 0.2)), "ambiguous");
  EXPECT_EQ(f32(Fn::Sqrt, within(0.1, 0.2)), "ambiguous");
  EXPECT_EQ(f32(Fn::Log, within(0.1, 0.2)), "ambiguous");
}

TEST(Floats, WhereAConditionIsAmbiguousLieInBothPartsOrNeither) {
  const Bounded condition = ambiguous();
  EXPECT_EQ(f32(Fn::Where, condition, within(1e-9, 2e-9), at(F32, 0)), "1e-09 +- 2e-09");
  EXPECT_EQ(f32(Fn::Where, condition, at(F32, 1), at(F32, 2)), "ambiguous");
  EXPECT_EQ(f32(Fn::Where, condition, at(F32, 1), at(F32, 1)), "1");
  EXPECT_EQ(f32(Fn::Where, unspecified(), at(F32, 1), at(F32, 1)), "unspecified");
}

TEST(Floats, ASquareIsNeverNegative) {
  const Bounded square = apply(Fn::Square, F32, within(0, 0x1p-30));
  EXPECT_EQ(f32(Fn::Sqrt, square).substr(0, 4), "0 +-");
  EXPECT_EQ(apply(Fn::Lt, F32, square, at(F32, 0)).integer, 0);
}

// C99, F.9.4.4, line by line.
TEST(Power, AtTheEdgesIsThatOfC) {
  EXPECT_EQ(f32(Fn::Pow, 0.0, -3), "inf");
  EXPECT_EQ(f32(Fn::Pow, -0.0, -3), "-inf");
  EXPECT_EQ(f32(Fn::Pow, -0.0, -2.5), "inf");
  EXPECT_EQ(f32(Fn::Pow, -0.0, 3), "-0");
  EXPECT_EQ(f32(Fn::Pow, -0.0, 2), "0");
  EXPECT_EQ(f32(Fn::Pow, -1, kInf), "1");
  EXPECT_EQ(f32(Fn::Pow, -1, -kInf), "1");
  EXPECT_EQ(f32(Fn::Pow, 1, kNaN), "1");
  EXPECT_EQ(f32(Fn::Pow, kNaN, 0), "1");
  EXPECT_EQ(f32(Fn::Pow, kNaN, -0.0), "1");
  EXPECT_EQ(f32(Fn::Pow, -2, 0.5), "nan");
  EXPECT_EQ(f32(Fn::Pow, 0.5, -kInf), "inf");
  EXPECT_EQ(f32(Fn::Pow, 2, -kInf), "0");
  EXPECT_EQ(f32(Fn::Pow, 0.5, kInf), "0");
  EXPECT_EQ(f32(Fn::Pow, -2, kInf), "inf");
  EXPECT_EQ(f32(Fn::Pow, -kInf, -3), "-0");
  EXPECT_EQ(f32(Fn::Pow, -kInf, -2), "0");
  EXPECT_EQ(f32(Fn::Pow, -kInf, 3), "-inf");
  EXPECT_EQ(f32(Fn::Pow, -kInf, 3.3), "inf");
  EXPECT_EQ(f32(Fn::Pow, kInf, -1), "0");
  EXPECT_EQ(f32(Fn::Pow, kInf, 0.1), "inf");
  EXPECT_EQ(f32(Fn::Pow, loose(), at(F32, 3)), "+-0");
  EXPECT_EQ(f32(Fn::Pow, loose(), at(F32, -3)), "ambiguous");
  EXPECT_EQ(f32(Fn::Pow, within(-2, 0.1), at(F32, 0.5)), "nan");
  EXPECT_EQ(f32(Fn::Pow, within(2, 0.1), at(F32, kNaN)), "nan");
  EXPECT_EQ(f32(Fn::Pow, within(1, 0.1), at(F32, kNaN)), "ambiguous");
  EXPECT_EQ(f32(Fn::Pow, at(F32, kNaN), within(0, 0.1)), "ambiguous");
}

// Digits by MPFR at 300 bits.
TEST(Functions, OfHugeArgumentsAreOfTheExactOne) {
  EXPECT_NEAR(apply(Fn::Sin, F32, at(F32, 1e22)).value, std::sin(nearest(F32, 1e22)), 1e-15);
  for (const Fn fn : {Fn::Sin, Fn::Cos, Fn::Tan}) {
    for (const double x : {1e22, 0x1p120, 3.4e38, 6381956970095103.0 * 0x1p797}) {
      const Bounded r = apply(fn, F64, at(F64, x));
      EXPECT_TRUE(admits(r, F64, device(fn, F64, x, 0, 0, 0))) << name_of(fn) << x << show(r);
      EXPECT_LE(r.bound, 5.01 * unit_of(F64, r.value));
    }
  }
  // The double nearest to a multiple of pi/2 (Muller).
  EXPECT_NEAR(apply(Fn::Cos, F64, at(F64, 6381956970095103.0 * 0x1p797)).value,
              -4.68716592425462761112e-19, 1e-33);
  EXPECT_EQ(apply(Fn::Sin, F64, at(F64, 1e22)).value, -0.8522008497671888);
}

TEST(Functions, AreExactWhereTheStandardsFixThem) {
  EXPECT_EQ(f32(Fn::Exp, 0), "1");
  EXPECT_EQ(f32(Fn::Exp2, -0.0), "1");
  EXPECT_EQ(f32(Fn::Exp, -kInf), "0");
  EXPECT_EQ(f32(Fn::Log, 1), "0");
  EXPECT_EQ(f32(Fn::Log2, -0.0), "-inf");
  EXPECT_EQ(f32(Fn::Log, -1), "nan");
  EXPECT_EQ(f32(Fn::Sin, -0.0), "-0");
  EXPECT_EQ(f32(Fn::Cos, 0), "1");
  EXPECT_EQ(f32(Fn::Sqrt, -0.0), "-0");
  EXPECT_EQ(f32(Fn::Sqrt, -1), "nan");
  EXPECT_EQ(f32(Fn::Div, 1, -0.0), "-inf");
  EXPECT_EQ(f32(Fn::Div, -3, kInf), "-0");
  EXPECT_EQ(f32(Fn::Recip, kInf), "0");
  EXPECT_EQ(apply(Fn::Div, F64, at(F64, 1), at(F64, 3)).value, 1.0 / 3);
  EXPECT_TRUE(apply(Fn::Sqrt, F64, at(F64, 2)).is_exact());
}

TEST(Functions, LeaveRoomForTheirLimitAndNoMore) {
  for (int i = 0; i < kFnCount; i++) {
    const Fn fn{static_cast<uint8_t>(i)};
    for (const DType t : kAllFloats) {
      if (!types_of(fn).has(t) || ulp_limit(fn, t) <= 0.5) continue;
      const Bounded r = apply(fn, t, at(t, 1.25), at(t, 1.25));
      EXPECT_GE(r.bound, ulp_limit(fn, t) * unit_of(t, r.value)) << name_of(fn);
      EXPECT_LE(r.bound, ulp_limit(fn, t) * unit_of(t, r.value) * 1.01) << name_of(fn);
    }
  }
}

TEST(Cast, OverflowsAsTheContractSays) {
  const auto cast_to = [](DType t, double x) { return cast(at(F64, x), F64, t).value; };
  EXPECT_EQ(cast_to(F16, 65519.999), 65504);
  EXPECT_EQ(cast_to(F16, 65520), kInf);
  EXPECT_EQ(cast_to(E4M3, 464), 448);
  EXPECT_TRUE(std::isnan(cast_to(E4M3, std::nextafter(464, 500))));
  EXPECT_TRUE(std::isnan(cast_to(E4M3, -kInf)));
  EXPECT_EQ(cast_to(E5M2, 61439), 57344);
  EXPECT_EQ(cast_to(E5M2, -61440), -kInf);
  EXPECT_EQ(cast_to(F32, 1e-46), 0);
  EXPECT_TRUE(std::signbit(cast_to(F32, -1e-46)));
  EXPECT_EQ(cast_to(BF16, 1 + 0x1p-8), 1);
  EXPECT_EQ(cast_to(BF16, 1 + 3 * 0x1p-8), 1 + 0x1p-6);
  EXPECT_EQ(cast(integer(I32, 70000), I32, F16).value, kInf);
  EXPECT_EQ(cast(integer(U64, -1), U64, F32).value, 0x1p64);
  EXPECT_EQ(cast(integer(I64, (int64_t{1} << 53) + 1), I64, F64).value, 0x1p53);
  EXPECT_EQ(cast(integer(I64, (int64_t{1} << 53) + (int64_t{1} << 29) + 1), I64, F32).value,
            0x1p53 + 0x1p30);
}

TEST(Cast, ToIntegersCutsOrIsUnspecified) {
  const auto to = [](DType t, const Bounded& x) { return cast(x, F32, t); };
  EXPECT_EQ(to(I8, at(F32, -3.9)).integer, -3);
  EXPECT_EQ(to(U8, at(F32, -0.9)).integer, 0);
  EXPECT_EQ(to(U64, at(F32, 0x1p63)).integer, INT64_MIN);
  for (const double x : {kNaN, kInf, 300.0, -1.0}) {
    EXPECT_EQ(to(U8, at(F32, x)).certainty, Certainty::Unspecified) << x;
  }
  EXPECT_EQ(to(I32, within(2.5, 0.25)).integer, 2);
  EXPECT_EQ(to(I32, within(2.9, 0.25)).certainty, Certainty::Ambiguous);
  EXPECT_EQ(to(U8, within(255.9, 0.25)).certainty, Certainty::Unspecified);
  EXPECT_EQ(to(Bool, at(F32, -0.0)).integer, 0);
  EXPECT_EQ(to(Bool, at(F32, kNaN)).integer, 1);
  EXPECT_EQ(to(Bool, within(0, 1)).certainty, Certainty::Ambiguous);
  EXPECT_EQ(cast(integer(I32, 300), I32, U8).integer, 44);
  EXPECT_EQ(cast(integer(I32, 256), I32, Bool).integer, 1);
}

TEST(Bits, OfEveryNarrowFloatComeBack) {
  for (const DType t : {E4M3, E5M2, F16, BF16}) {
    for (uint64_t bits = 0; bits < uint64_t{1} << uop::bits_of(t); bits++) {
      const Bounded x = from_bits(t, bits);
      ASSERT_EQ(to_bits(x, t).value_or(~bits), bits) << uop::to_text(t);
      if (std::isnan(x.value)) continue;
      ASSERT_EQ(to_bits(of_double(t, x.value), t).value_or(~bits), bits) << uop::to_text(t);
    }
  }
}

TEST(Bits, AreThoseOfTheMachine) {
  Random random(5);
  for (int n = 0; n < 10000; n++) {
    const uint64_t bits = random.next();
    const auto x = std::bit_cast<double>(bits);
    const auto y = std::bit_cast<float>(static_cast<uint32_t>(bits));
    ASSERT_TRUE(std::isnan(x) || from_bits(F64, bits).value == x) << bits;
    ASSERT_TRUE(std::isnan(y) || from_bits(F32, bits & 0xffffffff).value == y) << bits;
    ASSERT_EQ(to_bits(from_bits(F64, bits), F64).value_or(~bits), bits);
    ASSERT_EQ(to_bits(from_bits(F32, bits & 0xffffffff), F32).value_or(~bits), bits & 0xffffffff);
  }
}

TEST(Bits, AreThereOnlyWhereAllHaveThem) {
  EXPECT_EQ(bitcast(at(F32, 1), F32, I32).integer, 0x3f800000);
  EXPECT_EQ(bitcast(integer(I32, 0x3f800000), I32, F32).value, 1);
  EXPECT_EQ(bitcast(from_bits(F32, 0x7fc00001), F32, U32).integer, 0x7fc00001);
  EXPECT_EQ(bitcast(apply(Fn::Neg, F32, from_bits(F32, 0x7fc00001)), F32, U32).integer, 0xffc00001);
  EXPECT_EQ(bitcast(at(F32, kNaN), F32, U32).certainty, Certainty::Unspecified);
  EXPECT_EQ(bitcast(within(1, 0.1), F32, U32).certainty, Certainty::Ambiguous);
  EXPECT_EQ(bitcast(loose(), F32, U32).certainty, Certainty::Ambiguous);
  EXPECT_EQ(to_bits(integer(I8, -1), I8).value_or(0), 255U);
}

TEST(Apply, RepeatsAnOperandOfOneElement) {
  const Bounded x[] = {at(F32, 1), at(F32, 2), ambiguous()};
  const Bounded y[] = {at(F32, 10)};
  Bounded out[3];
  apply(Fn::Add, F32, out, x, y);
  EXPECT_EQ(out[0].value, 11);
  EXPECT_EQ(out[1].value, 12);
  EXPECT_EQ(out[2].certainty, Certainty::Ambiguous);
}

}  // namespace
}  // namespace assay::reference
