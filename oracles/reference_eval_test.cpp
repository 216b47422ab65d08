#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/uop/eval.h"
#include "oracles/reference/bounded.h"

// What the engine says an operation means lies within what the reference says, though neither
// includes the other.
namespace assay::oracles {
namespace {

using reference::apply;
using reference::Bounded;
using reference::Fn;
using uop::DType;
using uop::Op;
using uop::Value;

struct Row {
  Fn fn;
  Op op;
};
constexpr Row kRows[] = {
    {Fn::Neg, Op::Neg},
    {Fn::Not, Op::Not},
    {Fn::Recip, Op::Recip},
    {Fn::Sqrt, Op::Sqrt},
    {Fn::Exp, Op::Exp},
    {Fn::Exp2, Op::Exp2},
    {Fn::Log, Op::Log},
    {Fn::Log2, Op::Log2},
    {Fn::Sin, Op::Sin},
    {Fn::Cos, Op::Cos},
    {Fn::Tan, Op::Tan},
    {Fn::Trunc, Op::Trunc},
    {Fn::Floor, Op::Floor},
    {Fn::Ceil, Op::Ceil},
    {Fn::Round, Op::Round},
    {Fn::Add, Op::Add},
    {Fn::Sub, Op::Sub},
    {Fn::Mul, Op::Mul},
    {Fn::Div, Op::FDiv},
    {Fn::IDiv, Op::Div},
    {Fn::Mod, Op::Mod},
    {Fn::TDiv, Op::TDiv},
    {Fn::TMod, Op::TMod},
    {Fn::Max, Op::Max},
    {Fn::Min, Op::Min},
    {Fn::And, Op::And},
    {Fn::Or, Op::Or},
    {Fn::Xor, Op::Xor},
    {Fn::Shl, Op::Shl},
    {Fn::Shr, Op::Shr},
    {Fn::Lt, Op::Lt},
    {Fn::Eq, Op::Eq},
    {Fn::Ne, Op::Ne},
    {Fn::Pow, Op::Pow},
    {Fn::Fma, Op::Fma},
    {Fn::Where, Op::Where},
    {Fn::Threefry, Op::Threefry},
};

// SplitMix64.
uint64_t mixed(uint64_t& state) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// Any bits of t, or small numbers.
Value drawn(uint64_t& state, DType t) {
  const uint64_t bits = mixed(state);
  const uint64_t kind = mixed(state);
  if (kind % 3 == 0) {
    const auto small = static_cast<int64_t>(bits % 17);
    return uop::of_int(t, uop::is_unsigned(t) ? small : small - 8);
  }
  if (kind % 3 == 1 && uop::is_float(t)) {
    return uop::of_double(t, std::ldexp(static_cast<double>(static_cast<int64_t>(bits)), -61));
  }
  const int unused = 64 - uop::bits_of(t);
  if (uop::is_unsigned(t) || uop::is_float(t)) return {t, bits >> unused};
  return {t, static_cast<uint64_t>(static_cast<int64_t>(bits) >> unused)};
}

Bounded known(Value v) { return reference::from_bits(v.dtype, v.bits); }

bool agrees(const Bounded& expected, const std::optional<Value>& actual) {
  if (expected.certainty == reference::Certainty::Ambiguous) return actual.has_value();
  if (expected.certainty == reference::Certainty::Unspecified) return !actual;
  if (!actual) return false;
  if (!uop::is_float(actual->dtype)) return static_cast<uint64_t>(expected.integer) == actual->bits;
  const double x = uop::as_double(*actual);
  if (!expected.is_exact()) {
    return std::fabs(x - expected.value - expected.low) <= expected.bound;
  }
  if (std::isnan(expected.value)) return std::isnan(x);
  return x == expected.value && (x != 0 || std::signbit(x) == std::signbit(expected.value));
}

struct Meaning : testing::TestWithParam<Row> {};

TEST_P(Meaning, IsThatOfTheEngine) {
  const auto [fn, op] = GetParam();
  uint64_t state = 1;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    const DType t{static_cast<uint8_t>(i)};
    if (!reference::types_of(fn).has(t)) continue;
    int masked = 0;
    constexpr int kCases = 2000;
    for (int n = 0; n < kCases; n++) {
      Value in[3] = {drawn(state, t), drawn(state, t), drawn(state, t)};
      if (fn == Fn::Where) in[0] = uop::of_bool(n % 2 == 0);
      const auto operands = static_cast<size_t>(reference::operands_of(fn));
      const Bounded expected = apply(fn, t, known(in[0]), known(in[1]), known(in[2]));
      const std::optional<Value> actual =
          uop::eval(op, reference::result_type(fn, t), {in, operands});
      ASSERT_TRUE(agrees(expected, actual)) << fmt::format(
          "{} {} of {} {} {} is {}", reference::name_of(fn), uop::to_text(t), uop::to_text(in[0]),
          uop::to_text(in[1]), uop::to_text(in[2]), actual ? uop::to_text(*actual) : "nothing");
      if (expected.certainty == reference::Certainty::Ambiguous) masked++;
    }
    EXPECT_LT(masked, kCases / (uop::bits_of(t) == 8 ? 4 : 20)) << uop::to_text(t);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Meaning, testing::ValuesIn(kRows), [](const auto& row) {
  return std::string(reference::name_of(row.param.fn));
});

TEST(Meaning, OfACastIsThatOfTheEngine) {
  uint64_t state = 2;
  for (int i = 0; i < uop::kDTypeCount * uop::kDTypeCount; i++) {
    const DType from{static_cast<uint8_t>(i / uop::kDTypeCount)};
    const DType to{static_cast<uint8_t>(i % uop::kDTypeCount)};
    if (from == DType::Void || to == DType::Void) continue;
    for (int n = 0; n < 500; n++) {
      const Value x = drawn(state, from);
      ASSERT_TRUE(agrees(reference::cast(known(x), from, to), uop::cast(x, to)))
          << fmt::format("{} {} to {}", uop::to_text(from), uop::to_text(x), uop::to_text(to));
    }
  }
}

}  // namespace
}  // namespace assay::oracles
