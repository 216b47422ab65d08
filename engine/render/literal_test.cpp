#include "engine/render/literal.h"

#include <gtest/gtest.h>

namespace assay::render {
namespace {

using uop::DType;

std::string literal(DType t, std::string_view text) {
  std::string out;
  append_literal(out, *uop::value_from_text(t, text));
  return out;
}

TEST(Literal, FloatsAreWrittenInBinary) {
  EXPECT_EQ(literal(DType::F32, "3.0"), "3.0f");
  EXPECT_EQ(literal(DType::F32, "-1.0"), "-1.0f");
  EXPECT_EQ(literal(DType::F32, "0.1"), "0x1.99999ap-4f");
  EXPECT_EQ(literal(DType::F32, "-2.5"), "-0x1.4p+1f");
  EXPECT_EQ(literal(DType::F32, "1e10"), "0x1.2a05f2p+33f");
  EXPECT_EQ(literal(DType::F64, "0.1"), "0x1.999999999999ap-4");
  EXPECT_EQ(literal(DType::F64, "1.0"), "1.0");
  EXPECT_EQ(literal(DType::F16, "0.1"), "(half)0x1.998p-4f");
}

TEST(Literal, ZerosHaveTheirSign) {
  EXPECT_EQ(literal(DType::F32, "0.0"), "0.0f");
  EXPECT_EQ(literal(DType::F32, "-0.0"), "-0.0f");
  EXPECT_EQ(literal(DType::F64, "-0.0"), "-0.0");
}

TEST(Literal, SubnormalsAreExact) {
  EXPECT_EQ(literal(DType::F32, "1e-45"), "0x1p-149f");
  EXPECT_EQ(literal(DType::F64, "5e-324"), "0x0.0000000000001p-1022");
}

TEST(Literal, NansAndInfinitiesAreTheirBits) {
  EXPECT_EQ(literal(DType::F32, "inf"), "as_float(0x7f800000u)");
  EXPECT_EQ(literal(DType::F32, "-inf"), "as_float(0xff800000u)");
  EXPECT_EQ(literal(DType::F32, "nan:0x7fc00001"), "as_float(0x7fc00001u)");
  EXPECT_EQ(literal(DType::F64, "nan"), "as_double(0x7ff8000000000000UL)");
  EXPECT_EQ(literal(DType::F16, "-inf"), "as_half((ushort)0xfc00)");
}

TEST(Literal, IntegersHaveTheirType) {
  EXPECT_EQ(literal(DType::I32, "-7"), "-7");
  EXPECT_EQ(literal(DType::U32, "4294967295"), "4294967295u");
  EXPECT_EQ(literal(DType::I64, "4294967296"), "4294967296L");
  EXPECT_EQ(literal(DType::U64, "18446744073709551615"), "18446744073709551615UL");
  EXPECT_EQ(literal(DType::U8, "255"), "255");
  EXPECT_EQ(literal(DType::I8, "-128"), "-128");
  EXPECT_EQ(literal(DType::Bool, "true"), "true");
}

// -2147483648 is minus a number that no int holds.
TEST(Literal, TheLeastIntegersAreDifferences) {
  EXPECT_EQ(literal(DType::I32, "-2147483648"), "-2147483647 - 1");
  EXPECT_EQ(literal(DType::I64, "-9223372036854775808"), "-9223372036854775807L - 1L");
}

}  // namespace
}  // namespace assay::render
