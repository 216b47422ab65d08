#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/test_numbers.h"

// Public bugs of compilers of this kind that lie in conversions, by their numbers. Each check is a
// predicate over a conversion: ours passes it, and the wrong variant that the bug was does not.
namespace assay::uop {
namespace {

using Convert = std::optional<Value> (*)(Value, DType);

Value bits(DType t, uint64_t raw) { return {t, raw}; }

bool rounds_to_bf16(Convert convert) {
  return convert(f32(70000), BF16) == nearest(BF16, 70144) &&
         convert(f32(-70000), BF16) == nearest(BF16, -70144) &&
         convert(f32(69888), BF16) == nearest(BF16, 69632) &&  // ties, to even
         convert(f32(70400), BF16) == nearest(BF16, 70656);
}

TEST(NumericBugs, B098FloatToBf16RoundsToEven) {
  EXPECT_TRUE(rounds_to_bf16(cast));
  EXPECT_FALSE(rounds_to_bf16(
      [](Value v, DType to) -> std::optional<Value> { return bits(to, v.bits >> 16); }));
}

bool keeps_nan_in_bf16(Convert convert) {
  for (const uint64_t raw : {0x7f800001U, 0x7fffffffU, 0xffffffffU}) {
    const std::optional<Value> v = convert(bits(F32, raw), BF16);
    if (!v || !std::isnan(decode(*v))) return false;
  }
  return rounds_to_bf16(convert);
}

TEST(NumericBugs, B099NanStaysNanInBf16) {
  EXPECT_TRUE(keeps_nan_in_bf16(cast));
  EXPECT_FALSE(keeps_nan_in_bf16([](Value v, DType to) -> std::optional<Value> {
    const auto raw = static_cast<uint32_t>(v.bits);
    return bits(to, static_cast<uint16_t>((raw + 0x7fff + ((raw >> 16) & 1)) >> 16));
  }));
}

bool tells_infinity_from_overflow(Convert convert) {
  const std::optional<Value> plus = convert(f32(INFINITY), E4M3);
  const std::optional<Value> minus = convert(f32(-INFINITY), E4M3);
  return plus && minus && std::isnan(decode(*plus)) && std::isnan(decode(*minus)) &&
         convert(f32(INFINITY), E5M2) == bits(E5M2, 0x7c) &&
         convert(f32(-INFINITY), E5M2) == bits(E5M2, 0xfc);
}

TEST(NumericBugs, B101InfinityDoesNotSaturateInFp8) {
  EXPECT_TRUE(tells_infinity_from_overflow(cast));
  EXPECT_FALSE(tells_infinity_from_overflow([](Value v, DType to) {
    const double most = to == E4M3 ? 448 : 57344;
    return cast(f64(std::fmin(std::fmax(as_double(v), -most), most)), to);
  }));
}

// Down to a narrower exponent and back up, over all bytes and all halves.
bool keeps_small_exponents(Convert convert) {
  for (const Value v : all_values(E5M2)) {
    if (std::isnan(decode(v))) continue;
    const std::optional<Value> half = convert(v, F16);
    if (half != nearest(F16, decode(v))) return false;
    if (convert(*half, F32) != nearest(F32, decode(v))) return false;
  }
  for (const DType to : {E4M3, E5M2}) {
    for (const Value v : all_values(F16)) {
      if (!std::isnan(decode(v)) && convert(v, to) != nearest(to, decode(v))) return false;
    }
  }
  return true;
}

TEST(NumericBugs, B102ExponentsBelowTheTargetsAreSubnormal) {
  EXPECT_TRUE(keeps_small_exponents(cast));
  EXPECT_FALSE(keeps_small_exponents([](Value v, DType to) -> std::optional<Value> {
    if (v.dtype != F16 || to != E4M3) return cast(v, to);
    const auto exponent = static_cast<int>((v.bits >> 10) & 31);
    // Only the source's own subnormals are taken for small; the rest is moved by the biases.
    if (exponent == 0 || std::fabs(decode(v)) > 448) return cast(v, to);
    const auto moved = static_cast<uint64_t>(exponent - 8) & 15;
    return bits(E4M3, (v.bits >> 15) << 7 | moved << 3 | ((v.bits >> 7) & 7));
  }));
}

bool keeps_wide_integers(Convert convert) {
  return convert(held(U64, (uint64_t{1} << 32) + 1), F64) == f64(4294967297.0) &&
         convert(held(U64, (uint64_t{1} << 53) - 1), F64) == f64(9007199254740991.0) &&
         convert(held(I64, -(int64_t{1} << 53) + 1), F64) == f64(-9007199254740991.0);
}

TEST(NumericBugs, B103WideIntegersReachF64Directly) {
  EXPECT_TRUE(keeps_wide_integers(cast));
  EXPECT_FALSE(keeps_wide_integers([](Value v, DType to) {
    const float joined = static_cast<float>(v.bits >> 32) * 4294967296.0F +
                         static_cast<float>(static_cast<uint32_t>(v.bits));
    return cast(f32(joined), to);
  }));
}

// One above the middle of two singles, which a double takes for the middle.
bool rounds_integers_once(Convert convert) {
  const int64_t above = (int64_t{1} << 54) + (int64_t{1} << 30) + 1;
  const int64_t below = (int64_t{1} << 54) + 3 * (int64_t{1} << 30) - 1;
  return convert(held(I64, above), F32) == f32(0x1.000002p54F) &&
         convert(held(I64, -above), F32) == f32(-0x1.000002p54F) &&
         convert(held(U64, above), F32) == f32(0x1.000002p54F) &&
         convert(held(I64, below), F32) == f32(0x1.000002p54F) &&
         convert(held(U64, UINT64_MAX), F32) == f32(0x1p64F);
}

TEST(NumericBugs, B103IntegersReachF32InOneRounding) {
  EXPECT_TRUE(rounds_integers_once(cast));
  EXPECT_FALSE(rounds_integers_once(
      [](Value v, DType to) { return cast(f64(static_cast<double>(as_int(v))), to); }));
}

bool rounds_to_half(Convert convert) {
  return convert(f64(65519.999), F16) == bits(F16, 0x7bff) &&
         convert(f64(65520), F16) == bits(F16, 0x7c00) &&
         convert(f64(2049), F16) == nearest(F16, 2048);
}

TEST(NumericBugs, B105ConstantsAreRoundedToHalf) {
  EXPECT_TRUE(rounds_to_half(cast));
  EXPECT_FALSE(rounds_to_half([](Value v, DType to) -> std::optional<Value> {
    // Rounded only on overflow.
    return std::fabs(as_double(v)) < 65520 ? v : nearest(to, INFINITY);
  }));
}

using Chain = std::optional<Value> (*)(Value, DType, DType);

bool keeps_the_middle_cast(Chain chain) {
  return chain(held(I64, int64_t{-1}), Bool, I32) == held(I32, 1) &&
         chain(held(I64, int64_t{256}), Bool, I32) == held(I32, 1) &&
         chain(held(I32, -1), U8, I32) == held(I32, 255);
}

TEST(NumericBugs, B109CastThroughBoolIsNotSkipped) {
  EXPECT_TRUE(keeps_the_middle_cast(
      [](Value v, DType middle, DType to) { return cast(sure(cast(v, middle)), to); }));
  // Skips the middle.
  EXPECT_FALSE(
      keeps_the_middle_cast([](Value v, DType /*middle*/, DType to) { return cast(v, to); }));
  // Takes bool for an integer of one bit.
  EXPECT_FALSE(keeps_the_middle_cast([](Value v, DType middle, DType to) {
    return middle == Bool ? cast(bits(I64, v.bits & 1), to) : cast(sure(cast(v, middle)), to);
  }));
}

bool reads_equal_sizes_only(Convert convert) {
  return convert(held(U8, uint8_t{0x3f}), F16) == std::nullopt &&
         convert(held(U64, uint64_t{7}), U32) == std::nullopt &&
         convert(f32(1), U32) == held(U32, 0x3f800000U) &&
         convert(held(U32, 0xbf800000U), F32) == f32(-1) &&
         convert(f32(-1), I32) == held(I32, int32_t{-0x40800000});
}

TEST(NumericBugs, B127BitcastNeedsEqualSizes) {
  EXPECT_TRUE(reads_equal_sizes_only(bitcast));
  EXPECT_FALSE(reads_equal_sizes_only([](Value v, DType to) -> std::optional<Value> {
    return is_float(to) ? bits(to, v.bits) : of_int(to, Int128{v.bits});
  }));
}

using Read = std::optional<Value> (*)(DType, std::string_view);

bool refuses_what_does_not_fit(Read read) {
  return !read(I32, "8589934592") && !read(I32, "2147483648") && !read(U8, "-1") &&
         read(I64, "8589934592") == held(I64, int64_t{1} << 33);
}

TEST(NumericBugs, B171IntegersThatDoNotFitAreRefused) {
  EXPECT_TRUE(refuses_what_does_not_fit(value_from_text));
  EXPECT_FALSE(refuses_what_does_not_fit([](DType t, std::string_view text) {
    return cast(sure(value_from_text(I64, text)), t);  // wraps
  }));
}

bool reads_the_ends(Read read) {
  return read(U64, "18446744073709551615") == held(U64, UINT64_MAX) &&
         read(I64, "-9223372036854775808") == held(I64, INT64_MIN) &&
         read(I32, "-2147483648") == held(I32, INT32_MIN);
}

TEST(NumericBugs, B178TheEndsOfIntegersAreReadAndPrinted) {
  EXPECT_TRUE(reads_the_ends(value_from_text));
  EXPECT_EQ(to_text(held(U64, UINT64_MAX)), "18446744073709551615");
  EXPECT_EQ(to_text(held(I64, INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(to_text(held(I32, INT32_MIN)), "-2147483648");
  // A sign and then a literal of the type, which its magnitude does not fit.
  EXPECT_FALSE(reads_the_ends([](DType t, std::string_view text) -> std::optional<Value> {
    const bool negative = text.starts_with('-');
    const std::optional<Value> size = value_from_text(t, negative ? text.substr(1) : text);
    if (!size) return std::nullopt;
    return of_int(t, negative ? -as_int(*size) : as_int(*size));
  }));
}

}  // namespace
}  // namespace assay::uop
