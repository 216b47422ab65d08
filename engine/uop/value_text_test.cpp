#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/uop/test_numbers.h"
#include "engine/uop/value.h"

namespace assay::uop {
namespace {

TEST(ValueText, IsReadBackToTheSameBits) {
  Ledger ledger;
  for (const DType t : kAllScalars) {
    for (const Value v : some_values(t)) {
      ledger.same(to_text(v), {{v}}, value_from_text(t, to_text(v)), v);
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(ValueText, IsReadBackForAnyBits) {
  EXPECT_TRUE(rc::check("any f32 or f64 comes back", [](uint64_t bits) {
    const Value narrow = {F32, bits >> 32};
    const Value wide = {F64, bits};
    RC_ASSERT(value_from_text(F32, to_text(narrow)) == narrow);
    RC_ASSERT(value_from_text(F64, to_text(wide)) == wide);
  }));
}

TEST(ValueText, DiffersForDifferentBits) {
  for (const DType t : {I8, E4M3, E5M2, F16, BF16}) {
    std::vector<std::string> texts;
    for (const Value v : all_values(t)) texts.push_back(to_text(v));
    std::ranges::sort(texts);
    EXPECT_EQ(std::ranges::adjacent_find(texts), texts.end()) << to_text(t);
  }
}

TEST(ValueText, IsShortAndShowsItsKind) {
  EXPECT_EQ(to_text(f32(0.1F)), "0.1");
  EXPECT_EQ(to_text(f64(0.1)), "0.1");
  EXPECT_EQ(to_text(f32(2)), "2.0");
  EXPECT_EQ(to_text(f64(-0.0)), "-0.0");
  EXPECT_EQ(to_text(f64(1e300)), "1e+300");
  EXPECT_EQ(to_text(f32(INFINITY)), "inf");
  EXPECT_EQ(to_text(f64(-INFINITY)), "-inf");
  EXPECT_EQ(to_text(Value{F32, 0x7fc00000}), "nan");
  EXPECT_EQ(to_text(Value{F32, 0x7fc00001}), "nan:0x7fc00001");
  EXPECT_EQ(to_text(Value{E4M3, 0xff}), "nan:0xff");
  EXPECT_EQ(to_text(Value{F16, 0x7bff}), "65504.0");
  EXPECT_EQ(to_text(Value{E5M2, 1}), "1.52587890625e-05");
  EXPECT_EQ(to_text(of_bool(true)), "true");
  EXPECT_EQ(to_text(held(I8, int8_t{-128})), "-128");
  EXPECT_EQ(to_text(held(Index, int64_t{-7})), "-7");
}

TEST(ValueText, OfFloatsIsRoundedToTheType) {
  EXPECT_EQ(value_from_text(F16, "2049"), (Value{F16, 0x6800}));
  EXPECT_EQ(value_from_text(F32, "16777217"), f32(16777216));
  // Nearer to the upper single than to the lower, by less than a double can tell.
  EXPECT_EQ(value_from_text(F32, "1.00000005960464477539062500000001"), f32(0x1.000002p0F));
  EXPECT_EQ(value_from_text(F32, "1e40"), f32(INFINITY));
  EXPECT_EQ(value_from_text(F32, "-1e-50"), f32(-0.0F));
  EXPECT_EQ(value_from_text(F32, "1e-45"), (Value{F32, 1}));
  EXPECT_EQ(value_from_text(F64, "5e-324"), (Value{F64, 1}));
  EXPECT_EQ(value_from_text(E4M3, "1000"), (Value{E4M3, 0x7f}));
}

TEST(ValueText, IsRefusedWhereItIsNoNumberOfTheType) {
  for (const char* text : {"", "-", "--5", "+5", "5 ", " 5", "5.0", "0x10", "true", "nan", "1e3"}) {
    EXPECT_EQ(value_from_text(I32, text), std::nullopt) << text;
  }
  for (const char* text :
       {"", "-", "infinity", "NaN", "-nan", "nan(1)", "nan:0x", "nan:0x1", "nan:0x17fc00000",
        "nan:0x7f800000", "nan:7fc00001", "1.0f", "0x1p3", " 1", "1 ", "1,5", "true"}) {
    EXPECT_EQ(value_from_text(F32, text), std::nullopt) << text;
  }
  for (const char* text : {"", "1", "0", "True", "true "}) {
    EXPECT_EQ(value_from_text(Bool, text), std::nullopt) << text;
  }
  EXPECT_EQ(value_from_text(E4M3, "inf"), std::nullopt);
  EXPECT_EQ(value_from_text(E4M3, "-inf"), std::nullopt);
  EXPECT_EQ(value_from_text(Void, "0"), std::nullopt);
}

TEST(ValueText, IsRefusedPastTheRangeOfAnInteger) {
  const auto reads = [](DType t, const char* text) { return value_from_text(t, text).has_value(); };
  EXPECT_TRUE(reads(I8, "127") && reads(I8, "-128") && reads(U8, "255") && reads(U8, "-0"));
  EXPECT_FALSE(reads(I8, "128") || reads(I8, "-129") || reads(U8, "256") || reads(U8, "-1"));
  EXPECT_TRUE(reads(Index, "9223372036854775807") && reads(Index, "-9223372036854775808"));
  EXPECT_FALSE(reads(Index, "9223372036854775808") || reads(Index, "-9223372036854775809"));
  EXPECT_TRUE(reads(U64, "18446744073709551615"));
  EXPECT_FALSE(reads(U64, "18446744073709551616") || reads(I64, "9223372036854775808"));
}

// Each just above the middle of two neighbours: rounded to a double first, it is the middle.
TEST(ValueText, RoundsALongDecimalOnce) {
  EXPECT_EQ(value_from_text(F16, "2049.00000000000000000001"), of_double(F16, 2050));
  EXPECT_EQ(value_from_text(F16, "2049"), of_double(F16, 2048));
  EXPECT_EQ(value_from_text(BF16, "257.00000000000000000001"), of_double(BF16, 258));
  EXPECT_EQ(value_from_text(E5M2, "9.00000000000000000001"), of_double(E5M2, 10));
  EXPECT_EQ(value_from_text(F32, "16777217.0000000000000001"), of_double(F32, 16777218));
  EXPECT_EQ(value_from_text(F16, "65519.9999999999999999"), of_double(F16, 65504));
  EXPECT_EQ(value_from_text(F64, "1e400"), highest(F64));
  EXPECT_EQ(value_from_text(F64, "-1e-400"), of_double(F64, -0.0));
}

}  // namespace
}  // namespace assay::uop
