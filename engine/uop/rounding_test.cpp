#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include <Eigen/Core>

#include "engine/uop/test_numbers.h"
#include "engine/uop/value.h"

// Narrowing to floats of at most 16 bits: each boundary between two neighbours, on it and on both
// sides, and a large sample of f32 against the compiler's half and Eigen's.
namespace assay::uop {
namespace {

Value with_sign_of(Value v, double x) {
  return {v.dtype, v.bits | (std::signbit(x) ? uint64_t{1} << (bits_of(v.dtype) - 1) : 0)};
}

// What lies past the largest number: infinity, or NaN in e4m3.
Value past_the_largest(DType t, Value largest) {
  return t == E4M3 ? default_nan(t) : Value{t, largest.bits + 1};
}

struct Boundary {
  double middle;
  Value below;  // the neighbour nearer to zero
  Value above;
};

void check_boundary(Ledger& ledger, const Boundary& b, double sign) {
  const auto signed_as = [&](Value v) { return std::isnan(decode(v)) ? v : with_sign_of(v, sign); };
  const Value even = b.below.bits % 2 == 0 ? b.below : b.above;
  const DType t = b.below.dtype;
  const double x = sign * b.middle;
  const Value at[] = {f64(x), f64(std::nextafter(x, 0)), f64(std::nextafter(x, sign * INFINITY))};
  ledger.same("on the middle", {{at[0]}}, cast(at[0], t), signed_as(even));
  ledger.same("below the middle", {{at[1]}}, cast(at[1], t), signed_as(b.below));
  ledger.same("above the middle", {{at[2]}}, cast(at[2], t), signed_as(b.above));
  const auto y = static_cast<float>(x);
  ASSERT_EQ(y, x);
  const Value from[] = {f32(y), f32(std::nextafterf(y, 0)),
                        f32(std::nextafterf(y, static_cast<float>(sign) * INFINITY))};
  ledger.same("on the middle", {{from[0]}}, cast(from[0], t), signed_as(even));
  ledger.same("below the middle", {{from[1]}}, cast(from[1], t), signed_as(b.below));
  ledger.same("above the middle", {{from[2]}}, cast(from[2], t), signed_as(b.above));
}

TEST(Rounding, TakesTheNearestAndOfTwoTheEven) {
  Ledger ledger;
  for (const DType t : kSmallFloats) {
    int boundaries = 0;
    for (Value v = {t, 0}; std::isfinite(decode(v)); v.bits++, boundaries++) {
      const long double next = next_magnitude(v);
      const Value above = {t, v.bits + 1};
      const bool largest = !std::isfinite(decode(above));
      const Boundary b = {static_cast<double>((decode(v) + next) / 2), v,
                          largest ? past_the_largest(t, v) : above};
      check_boundary(ledger, b, 1);
      check_boundary(ledger, b, -1);
    }
    const int finite = t == E4M3 ? 127 : t == E5M2 ? 124 : t == F16 ? 31744 : 32640;
    EXPECT_EQ(boundaries, finite) << to_text(t);
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Rounding, KeepsEveryValueOfTheType) {
  Ledger ledger;
  for (const DType t : kSmallFloats) {
    for (const Value v : all_values(t)) {
      const long double x = decode(v);
      if (std::isnan(x)) continue;
      ledger.same("cast", {{v}}, of_double(t, static_cast<double>(x)), v);
      ledger.same("cast", {{v}}, cast(f32(static_cast<float>(x)), t), v);
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Rounding, OverflowsWhereTheTypeSays) {
  const auto bits = [](DType t, double x) { return of_double(t, x).bits; };
  EXPECT_EQ(bits(F16, 65519.999), 0x7bffU);
  EXPECT_EQ(bits(F16, 65520), 0x7c00U);
  EXPECT_EQ(bits(F16, -65520), 0xfc00U);
  EXPECT_EQ(bits(F16, 1e300), 0x7c00U);
  EXPECT_EQ(bits(E4M3, 448), 0x7eU);
  EXPECT_EQ(bits(E4M3, 464), 0x7eU);  // half way to 480, which is no number: 448 is even
  EXPECT_EQ(bits(E4M3, 464.001), 0x7fU);
  EXPECT_EQ(bits(E4M3, 465), 0x7fU);
  EXPECT_EQ(bits(E4M3, 1e300), 0x7fU);
  EXPECT_EQ(bits(E5M2, 57344), 0x7bU);
  EXPECT_EQ(bits(E5M2, 61439.999), 0x7bU);
  EXPECT_EQ(bits(E5M2, 61440), 0x7cU);
  EXPECT_EQ(bits(E5M2, -61440), 0xfcU);
  EXPECT_EQ(bits(BF16, 0x1.fefffffffp127), 0x7f7fU);
  EXPECT_EQ(bits(BF16, 0x1.ffp127), 0x7f80U);
  EXPECT_EQ(bits(F32, 0x1.fffffefffffffp127), 0x7f7fffffU);
  EXPECT_EQ(bits(F32, 0x1.ffffffp127), 0x7f800000U);
  EXPECT_EQ(bits(F32, -0x1.ffffffp127), 0xff800000U);
}

TEST(Rounding, UnderflowsToSignedZero) {
  for (const DType t : kAllFloats) {
    if (t == F64) continue;
    const auto half = static_cast<double>(decode({t, 1}) / 2);
    const uint64_t sign = uint64_t{1} << (bits_of(t) - 1);
    EXPECT_EQ(of_double(t, half).bits, 0U) << to_text(t);
    EXPECT_EQ(of_double(t, -half).bits, sign) << to_text(t);
    EXPECT_EQ(of_double(t, std::nextafter(half, 1)).bits, 1U) << to_text(t);
    EXPECT_EQ(of_double(t, std::nextafter(-half, -1)).bits, sign | 1) << to_text(t);
    EXPECT_EQ(of_double(t, 5e-324).bits, 0U) << to_text(t);
    EXPECT_EQ(of_double(t, -0.0).bits, sign) << to_text(t);
  }
}

TEST(Rounding, AgreesWithTheCompilerAndEigenOnEveryHalf) {
  Ledger ledger;
  for (const Value v : all_values(F16)) {
    const auto raw = static_cast<uint16_t>(v.bits);
    const auto compiler = static_cast<float>(std::bit_cast<_Float16>(raw));
    const auto eigen = static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(raw));
    ASSERT_EQ(std::isnan(compiler), std::isnan(eigen));
    ledger.same("cast", {{v}}, cast(v, F32), std::isnan(eigen) ? default_nan(F32) : f32(eigen));
    ledger.same("cast", {{v}}, cast(v, F32),
                std::isnan(compiler) ? default_nan(F32) : f32(compiler));
  }
  for (const Value v : all_values(BF16)) {
    const auto raw = static_cast<uint16_t>(v.bits);
    const auto eigen = static_cast<float>(Eigen::numext::bit_cast<Eigen::bfloat16>(raw));
    const auto shifted = std::bit_cast<float>(uint32_t{raw} << 16);
    ledger.same("cast", {{v}}, cast(v, F32), std::isnan(eigen) ? default_nan(F32) : f32(eigen));
    ledger.same("cast", {{v}}, cast(v, F32), std::isnan(shifted) ? default_nan(F32) : f32(shifted));
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Rounding, AgreesWithTheCompilerAndEigenOnSingles) {
  Ledger ledger;
  constexpr uint32_t kStep = 2477;  // prime, so that all low bits are met
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += kStep) {
    const Value v = {F32, bits};
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const bool nan = std::isnan(x);
    const auto half = std::bit_cast<uint16_t>(static_cast<_Float16>(x));
    const auto bfloat = Eigen::numext::bit_cast<uint16_t>(Eigen::bfloat16(x));
    ledger.same("cast", {{v}}, cast(v, F16), nan ? default_nan(F16) : Value{F16, half});
    ledger.same("cast", {{v}}, cast(v, BF16), nan ? default_nan(BF16) : Value{BF16, bfloat});
    if (bits % 4 != 0) continue;
    ledger.same("cast", {{v}}, cast(v, F16), nearest(F16, x));
    ledger.same("cast", {{v}}, cast(v, E4M3), nearest(E4M3, x));
    ledger.same("cast", {{v}}, cast(v, E5M2), nearest(E5M2, x));
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Rounding, AgreesWithTheProcessorOnDoubles) {
  Ledger ledger;
  Random random(2);
  for (int i = 0; i < 300000; i++) {
    const Value v = {F64, random.next()};
    Value near = any_bits(random, F64);
    // On and beside the middle of two singles.
    near.bits = (near.bits & ~uint64_t{0x3fffffff}) + 0x10000000 + random.next() % 3 - 1;
    for (const Value in : {v, near}) {
      const auto want = std::bit_cast<double>(in.bits);
      ledger.same("cast", {{in}}, cast(in, F32),
                  std::isnan(want) ? default_nan(F32) : f32(static_cast<float>(want)));
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

}  // namespace
}  // namespace assay::uop
