#include "engine/tensor/program/program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "engine/tensor/program/text.h"
#include "engine/uop/value.h"

namespace assay::tensor {
namespace {

using Kind = SizeStep::Kind;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

Size joined(Kind kind) { return {0, {{Kind::Variable, 0}, {Kind::Variable, 1}, {kind, 0}}}; }

std::optional<int64_t> value_of(Kind kind, int64_t a, int64_t b) {
  return evaluate(joined(kind), {a, b});
}

TEST(Sizes, RoundDownAsIndexArithmeticDoes) {
  EXPECT_EQ(value_of(Kind::Div, -7, 2), -4);
  EXPECT_EQ(value_of(Kind::Div, 7, -2), -4);
  EXPECT_EQ(value_of(Kind::Div, -7, -2), 3);
  EXPECT_EQ(value_of(Kind::Mod, -7, 2), 1);
  EXPECT_EQ(value_of(Kind::Mod, 7, -2), -1);
  EXPECT_EQ(value_of(Kind::Mod, -6, 2), 0);
}

TEST(Sizes, HaveNoValuePast64BitsOrByZero) {
  EXPECT_EQ(value_of(Kind::Div, 1, 0), std::nullopt);
  EXPECT_EQ(value_of(Kind::Mod, 1, 0), std::nullopt);
  EXPECT_EQ(value_of(Kind::Div, kLeast, -1), std::nullopt);
  EXPECT_EQ(value_of(Kind::Mod, kLeast, -1), 0);
  EXPECT_EQ(value_of(Kind::Add, kMost, 1), std::nullopt);
  EXPECT_EQ(value_of(Kind::Sub, kLeast, 1), std::nullopt);
  EXPECT_EQ(value_of(Kind::Mul, kMost, 2), std::nullopt);
  EXPECT_EQ(value_of(Kind::Mul, kLeast, -1), std::nullopt);
}

RC_GTEST_PROP(Sizes, AgreeWithArithmeticThatDoesNotWrap, (int64_t a, int64_t b)) {
  const auto wide = [](Int128 x) {
    return x == static_cast<int64_t>(x) ? std::optional(static_cast<int64_t>(x)) : std::nullopt;
  };
  RC_ASSERT(value_of(Kind::Add, a, b) == wide(Int128{a} + b));
  RC_ASSERT(value_of(Kind::Sub, a, b) == wide(Int128{a} - b));
  RC_ASSERT(value_of(Kind::Mul, a, b) == wide(Int128{a} * b));
  if (b == 0) return;
  const Int128 rest = ((Int128{a} % b) + b) % b;
  RC_ASSERT(value_of(Kind::Mod, a, b) == wide(rest));
  RC_ASSERT(value_of(Kind::Div, a, b) == wide((a - rest) / b));
}

TEST(Sizes, ReadTermsFromLeftToRight) {
  const auto program = from_text(
      "tp 1\nvar n in 1..9 = 7\n"
      "x: f32[n - 2 - 1, n - (2 - 1), 2 + n * 3, (2 + n) * 3, n // 2 * 2, n % 4 - -1] = "
      "undefined()");
  ASSERT_TRUE(program.ok()) << to_string(program.error());
  std::vector<int64_t> sizes;
  for (const Size& s : program.value().define(0).shape) {
    sizes.push_back(evaluate(s, {7}).value_or(-1));
  }
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 6, 23, 27, 6, 4}));
}

TEST(Sizes, CountElementsAlsoWhereAProductWouldBePast64Bits) {
  const auto count = [](std::vector<int64_t> sizes) {
    std::vector<Size> shape;
    for (const int64_t s : sizes) shape.push_back({s, {}});
    return element_count(shape, {});
  };
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({2, 3, 4}), 24);
  EXPECT_EQ(count({int64_t{1} << 40, int64_t{1} << 22}), int64_t{1} << 62);
  EXPECT_EQ(count({int64_t{1} << 40, int64_t{1} << 23}), std::nullopt);
  EXPECT_EQ(count({kMost, kMost, 0}), 0);
  EXPECT_EQ(count({0, -1}), std::nullopt);
}

Literal integer(Int128 value) { return {Literal::Kind::Int, value, 0}; }
Literal real(double value) { return {Literal::Kind::Float, 0, value}; }

TEST(Literals, FitAType) {
  EXPECT_EQ(bits_at(integer(127), DType::I8), uint64_t{127});
  EXPECT_EQ(bits_at(integer(128), DType::I8), std::nullopt);
  EXPECT_EQ(bits_at(integer(-128), DType::I8), static_cast<uint64_t>(-128));
  EXPECT_EQ(bits_at(integer(-1), DType::U8), std::nullopt);
  EXPECT_EQ(bits_at(integer(1), DType::Bool), uint64_t{1});
  EXPECT_EQ(bits_at(integer(2), DType::Bool), std::nullopt);
  EXPECT_EQ(bits_at(real(2.0), DType::I8), uint64_t{2});
  EXPECT_EQ(bits_at(real(2.5), DType::I8), std::nullopt);
  EXPECT_EQ(bits_at(real(NAN), DType::I64), std::nullopt);
  EXPECT_EQ(bits_at(real(INFINITY), DType::I64), std::nullopt);
  EXPECT_EQ(bits_at(real(1e300), DType::I64), std::nullopt);
  EXPECT_EQ(bits_at(real(-0.0), DType::I64), uint64_t{0});
  EXPECT_EQ(bits_at({Literal::Kind::Bool, 1, 0}, DType::Bool), uint64_t{1});
  EXPECT_EQ(bits_at({Literal::Kind::Bool, 1, 0}, DType::F16), uint64_t{0x3c00});
  EXPECT_EQ(bits_at({Literal::Kind::Any, 0, 0}, DType::F32), std::nullopt);
  EXPECT_EQ(bits_at(integer(1), DType::Void), std::nullopt);
}

TEST(Literals, RoundToAFloatType) {
  EXPECT_EQ(bits_at(real(0.1), DType::F32), uint64_t{0x3dcccccd});
  EXPECT_EQ(bits_at(real(65520), DType::F16), uint64_t{0x7c00});
  EXPECT_EQ(bits_at(real(-0.0), DType::F16), uint64_t{0x8000});
  EXPECT_EQ(bits_at(real(-NAN), DType::BF16), uint64_t{0x7fc0});
  EXPECT_EQ(bits_at(integer((Int128{1} << 24) + 1), DType::F32), uint64_t{0x4b800000});
  EXPECT_EQ(bits_at(integer(Int128{1} << 64), DType::F64), uint64_t{0x43f0000000000000});
}

TEST(Literals, ReadFromDecimalsAtEachType) {
  struct Row {
    std::string_view type, text;
    uint64_t bits;
  };
  constexpr Row kRows[] = {
      {"bool", "true", 1},
      {"i8", "-128", 0xffffffffffffff80},
      {"u8", "255", 255},
      {"i16", "-32768", 0xffffffffffff8000},
      {"u16", "65535", 65535},
      {"i32", "-2147483648", 0xffffffff80000000},
      {"u32", "4294967295", 4294967295},
      {"i64", "-9223372036854775808", 0x8000000000000000},
      {"u64", "18446744073709551615", 0xffffffffffffffff},
      {"e4m3", "448", 0x7e},
      {"e5m2", "-inf", 0xfc},
      {"f16", "6e-8", 0x0001},
      {"bf16", "1.0078125", 0x3f81},
      {"f32", "1.17549435e-38", 0x00800000},
      {"f64", "4.9406564584124654e-324", 1},
  };
  for (const Row& r : kRows) {
    const auto program = from_text(fmt::format("tp 1\nx: {}[] = full(value={})", r.type, r.text));
    ASSERT_TRUE(program.ok()) << to_string(program.error());
    const Define& define = program.value().define(0);
    EXPECT_EQ(bits_at(std::get<Literal>(define.attrs[0]), define.dtype), r.bits) << r.type;
  }
}

// Every value of the narrow types, some of the wide ones.
class LiteralsOfEachType : public testing::TestWithParam<DType> {};

TEST_P(LiteralsOfEachType, KeepTheirBits) {
  const DType t = GetParam();
  const uint64_t count = uint64_t{1} << std::min(uop::bits_of(t), 16);
  const int shift = uop::bits_of(t) - std::min(uop::bits_of(t), 16);
  for (uint64_t i = 0; i < count; i += uop::bits_of(t) > 16 ? 7 : 1) {
    const uint64_t low = shift > 0 ? (i * 0x9e3779b97f4a7c15) >> (64 - shift) : 0;
    const uint64_t raw = i << shift | low;
    const uint64_t bits =
        uop::is_float(t) ? raw : static_cast<uint64_t>(uop::wrap(t, static_cast<Int128>(raw)));
    const uop::Value v = {t, bits};
    const uop::Value wanted = uop::is_float(t) && uop::is_nan(v) ? uop::nan_of(t) : v;
    const Literal literal = literal_of(bits, t);
    ASSERT_EQ(bits_at(literal, t).value_or(~bits), wanted.bits) << to_text(literal);
    if (i % 13 != 0 && count > 256) continue;
    const auto program =
        from_text(fmt::format("tp 1\nx: {}[] = full(value={})", to_text(t), to_text(literal)));
    ASSERT_TRUE(program.ok());
    ASSERT_TRUE(same(std::get<Literal>(program.value().define(0).attrs[0]), literal));
  }
}

std::string type_name(const testing::TestParamInfo<DType>& info) {
  return std::string(uop::to_text(info.param));
}

INSTANTIATE_TEST_SUITE_P(Types, LiteralsOfEachType,
                         testing::Values(DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16,
                                         DType::I32, DType::U32, DType::I64, DType::U64,
                                         DType::E4M3, DType::E5M2, DType::F16, DType::BF16,
                                         DType::F32, DType::F64),
                         type_name);

TEST(Literals, ShowTheShortestDecimal) {
  EXPECT_EQ(to_text(literal_of(0x3dcccccd, DType::F32)), "0.1");
  EXPECT_EQ(to_text(literal_of(0x2e66, DType::F16)), "0.0999755859375");
  EXPECT_EQ(to_text(literal_of(0x3f800000, DType::F32)), "1.0");
  EXPECT_EQ(to_text(literal_of(1, DType::Bool)), "true");
}

Program read(std::string_view text) {
  auto program = from_text(text);
  EXPECT_TRUE(program.ok()) << to_string(program.error());
  return std::move(program).value();
}

std::string outputs_of(std::string_view text) {
  const Program program = read(text);
  std::string result;
  for (const Output& o : outputs(program)) {
    result += fmt::format("{}@{} ", program.define(o.value).name, o.statement);
  }
  return result;
}

TEST(Outputs, AreWhatIsForcedAndExpected) {
  EXPECT_EQ(outputs_of("tp 1\na: i8[] = full(value=1)\nb: i8[] = neg(a)\nforce b, a\n"
                       "c: i8[] = neg(b)\nexpect b = -1\nexpect error \"x\"\n"),
            "b@2 a@2 b@4 ");
}

TEST(Outputs, AreAtTheEndWhatNothingReadsIfNothingIsForced) {
  EXPECT_EQ(outputs_of("tp 1\na: i8[] = full(value=1)\nb: i8[] = neg(a)\nc: i8[] = neg(a)\n"
                       "c := b\nexpect error \"x\"\n"),
            "c@5 ");
}

TEST(Storage, OfAViewIsThatOfWhatItIsAViewOf) {
  const Program program = read(
      "tp 1\na: i8[4] = input(data=1)\nb: i8[2, 2] = reshape(a)\nc: i8[2] = slice(b, at=[1:2])\n"
      "d: i8[2] = neg(c)\ne: u8[2] = bitcast(d)\nf: i8[1] = reshape(1)\n");
  EXPECT_EQ(storage_of(program, 0), 0);
  EXPECT_EQ(storage_of(program, 2), 0);
  EXPECT_EQ(storage_of(program, 3), 3);
  EXPECT_EQ(storage_of(program, 4), 3);
  EXPECT_EQ(storage_of(program, 5), 5);
}

}  // namespace
}  // namespace assay::tensor
