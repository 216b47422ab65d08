#include "engine/tensor/program/contents.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/tensor/program/text.h"
#include "engine/uop/value.h"

namespace assay::tensor {
namespace {

using Bits = std::vector<uint64_t>;

Bits bits_of_input(std::string_view type, std::string_view arguments, int64_t count) {
  const auto program =
      from_text(fmt::format("tp 1\nx: {}[{}] = input({})", type, count, arguments));
  EXPECT_TRUE(program.ok()) << to_string(program.error());
  auto bits = input_bits(program.value().define(0), count);
  EXPECT_TRUE(bits.ok()) << to_string(bits.error());
  return std::move(bits).value();
}

std::vector<double> numbers(std::string_view type, std::string_view arguments, int64_t count) {
  const DType t = uop::dtype_from_text(type).value_or(DType::F32);
  std::vector<double> result;
  for (const uint64_t bits : bits_of_input(type, arguments, count)) {
    const uop::Value v = {t, bits};
    result.push_back(uop::is_float(t) ? uop::as_double(v) : static_cast<double>(uop::as_int(v)));
  }
  return result;
}

uint64_t digest(const Bits& bits) {
  uint64_t result = 0xcbf29ce484222325;
  for (const uint64_t b : bits) result = (result ^ b) * 0x100000001b3;
  return result;
}

TEST(Contents, AreDataElementByElementOrOneForAll) {
  EXPECT_EQ(numbers("f16", "data=[1, 2.5, -inf]", 3), (std::vector<double>{1, 2.5, -INFINITY}));
  EXPECT_EQ(numbers("i8", "data=[-3]", 3), (std::vector<double>{-3, -3, -3}));
  EXPECT_EQ(bits_of_input("bool", "data=[true, false]", 2), (Bits{1, 0}));
  EXPECT_EQ(bits_of_input("f32", "data=[]", 0), Bits{});
}

TEST(Contents, AreStepsThatWrapAtTheirType) {
  EXPECT_EQ(numbers("i8", "start=126", 4), (std::vector<double>{126, 127, -128, -127}));
  EXPECT_EQ(numbers("u8", "start=1, step=255", 3), (std::vector<double>{1, 0, 255}));
  EXPECT_EQ(bits_of_input("u64", "start=18446744073709551615", 2), (Bits{~uint64_t{0}, 0}));
  EXPECT_EQ(bits_of_input("bool", "step=true", 4), (Bits{0, 1, 0, 1}));
  EXPECT_EQ(numbers("f32", "step=0.5", 3), (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(numbers("e4m3", "start=16", 3), (std::vector<double>{16, 16, 18}));
}

TEST(Contents, AreTheSameWheneverTheyAreMade) {
  struct Row {
    std::string_view type, arguments;
    uint64_t digest;
  };
  constexpr Row kRows[] = {
      {"f32", "random=uniform", 2347343875621088760},
      {"f16", "random=uniform, seed=3, low=-2.5, high=7", 3016093717681403839},
      {"f32", "random=normal", 8822185231467326701},
      {"bf16", "random=normal, seed=1", 9969557075859025903u},
      {"i32", "random=integers", 14913255352979727065u},
      {"u64", "random=integers, low=0, high=18446744073709551615", 4628077398115961808},
      {"f32", "random=nasty", 4134626754201921207},
      {"e4m3", "random=nasty, seed=-1", 9047107136086143918},
      {"i16", "random=nasty", 10655856777386915219u},
      {"bool", "random=nasty", 6581622850161495130},
  };
  for (const Row& r : kRows) {
    EXPECT_EQ(digest(bits_of_input(r.type, r.arguments, 1000)), r.digest)
        << r.type << " " << r.arguments;
  }
}

TEST(Contents, DependOnPlaceTypeSeedAndDistributionAlone) {
  const Bits many = bits_of_input("f32", "random=normal, seed=5", 100);
  const Bits few = bits_of_input("f32", "random=normal, seed=5", 10);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(bits_of_input("f32", "random=normal, seed=6", 10), few);
  EXPECT_NE(bits_of_input("f32", "random=nasty, seed=5", 10), few);
  EXPECT_NE(bits_of_input("u32", "random=nasty", 10), bits_of_input("i32", "random=nasty", 10));
}

TEST(Contents, SpreadUniformNumbersEvenly) {
  for (const std::string_view type : {"e5m2", "f16", "f32", "f64"}) {
    const auto all = numbers(type, "random=uniform, low=-2, high=6", 20000);
    double sum = 0;
    for (const double x : all) {
      ASSERT_GE(x, -2);
      ASSERT_LT(x, 6);
      sum += x;
    }
    EXPECT_NEAR(sum / 20000, 2, type == "e5m2" ? 0.4 : 0.1) << type;
    EXPECT_NEAR(static_cast<double>(std::ranges::count_if(all, [](double x) { return x < 0; })),
                5000, 300)
        << type;
  }
}

RC_GTEST_PROP(Contents, KeepUniformNumbersInTheirRange, (float low, float width)) {
  const double most = static_cast<double>(low) + std::fabs(static_cast<double>(width)) + 1;
  const std::string arguments = fmt::format("random=uniform, low={:e}, high={:e}", low, most);
  for (const double x : numbers("f64", arguments, 20)) {
    RC_ASSERT(static_cast<double>(low) <= x);
    RC_ASSERT(x < most);
  }
}

TEST(Contents, HaveNormalNumbersOfMeanZeroAndDeviationOne) {
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  for (const double x : numbers("f64", "random=normal", 50000)) {
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / 50000, 0, 0.03);
  EXPECT_NEAR(squares / 50000, 1, 0.03);
  EXPECT_NEAR(fourth / 50000, 2.9, 0.15);  // 3 of the true one
}

TEST(Contents, DrawEachIntegerOfTheirRange) {
  const auto all = numbers("i8", "random=integers", 2000);
  EXPECT_EQ(std::set<double>(all.begin(), all.end()).size(), size_t{17});
  EXPECT_EQ(*std::ranges::min_element(all), -8);
  EXPECT_EQ(*std::ranges::max_element(all), 8);
  const auto cut = numbers("u8", "random=integers", 2000);
  EXPECT_EQ(*std::ranges::min_element(cut), 0);
  const auto bools = numbers("bool", "random=integers", 2000);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(bools, 1.0)), 1000, 150);
  const auto floats = numbers("e4m3", "random=integers, low=-1000, high=1000", 2000);
  EXPECT_EQ(*std::ranges::min_element(floats), -16);
  EXPECT_EQ(*std::ranges::max_element(floats), 16);
}

TEST(Contents, MixWhatIsNastyWithOrdinaryNumbers) {
  for (const std::string_view type : {"e5m2", "f16", "bf16", "f32", "f64"}) {
    const DType t = uop::dtype_from_text(type).value_or(DType::F32);
    const uop::FloatFormat format = uop::format_of(t);
    const double least_normal = std::ldexp(1.0, format.min_exponent() + format.mantissa_bits);
    const auto all = numbers(type, "random=nasty", 2000);
    const auto count = [&](auto holds) { return std::ranges::count_if(all, holds); };
    EXPECT_GT(count([](double x) { return std::isnan(x); }), 20) << type;
    EXPECT_GT(count([](double x) { return x == INFINITY; }), 10) << type;
    EXPECT_GT(count([](double x) { return x == -INFINITY; }), 10) << type;
    EXPECT_GT(count([](double x) { return x == 0 && std::signbit(x); }), 10) << type;
    EXPECT_GT(count([](double x) { return x == 0 && !std::signbit(x); }), 10) << type;
    EXPECT_GT(count([&](double x) { return x != 0 && std::fabs(x) < least_normal; }), 20) << type;
    EXPECT_GT(count([](double x) { return std::fabs(x) == 1; }), 20) << type;
    EXPECT_GT(count([](double x) { return 0.01 < std::fabs(x) && std::fabs(x) < 2; }), 500) << type;
    EXPECT_GT(count([&](double x) { return x == uop::as_double({t, uop::highest(t).bits - 1}); }),
              10)
        << type;
  }
}

TEST(Contents, MixTheEndsOfIntegersWithSmallOnes) {
  for (const std::string_view type : {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}) {
    const DType t = uop::dtype_from_text(type).value_or(DType::I8);
    const Bits all = bits_of_input(type, "random=nasty", 2000);
    const auto count = [&](Int128 x) { return std::ranges::count(all, uop::of_int(t, x).bits); };
    EXPECT_GT(count(uop::min_int(t)), 20) << type;
    EXPECT_GT(count(uop::max_int(t)), 20) << type;
    EXPECT_GT(count(0), 20) << type;
    EXPECT_GT(count(1), 20) << type;
    EXPECT_GT(count(5), 1) << type;
  }
}

TEST(Contents, RefuseACountTheyDoNotHave) {
  const auto program = from_text("tp 1\nx: f32[3] = input(data=[1, 2, 3])\ny: f32[] = neg(x)");
  ASSERT_TRUE(program.ok());
  const auto text = [&](int32_t value, int64_t count) {
    const auto bits = input_bits(program.value().define(value), count);
    return bits.ok() ? "" : to_string(bits.error());
  };
  EXPECT_EQ(text(0, 4), "x has 4 elements, 3 are given");
  EXPECT_EQ(text(0, -1), "x has -1 elements");
  EXPECT_EQ(text(1, 3), "y is no input");
}

}  // namespace
}  // namespace assay::tensor
