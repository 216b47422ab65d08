#include "engine/uop/eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "engine/uop/test_numbers.h"

// Integers, bool and `index`; floats are in functions_test.cpp and arithmetic_test.cpp.
namespace assay::uop {
namespace {

std::optional<Value> run(Op op, Value a, Value b) {
  const Value src[] = {a, b};
  return eval(op, a.dtype, src);
}
std::optional<Value> run(Op op, Value a) { return eval(op, a.dtype, std::span(&a, 1)); }

// What an operation means on exact numbers, before wrapping: a double holds all there is at 8 bits.
// NAN stands for "unspecified".
struct Meaning {
  Op op;
  double (*of)(double, double);
};

// Sum of sign * bit * 2^place over the bits of two 8-bit patterns.
double bits(double a, double b, bool (*join)(bool, bool)) {
  double result = 0;
  for (int place = 0; place < 9; place++) {  // the ninth is the sign, extended
    const double unit = std::ldexp(1.0, place);
    const bool x = std::fmod(std::floor(a / unit), 2) != 0;
    const bool y = std::fmod(std::floor(b / unit), 2) != 0;
    if (join(x, y)) result += place == 8 ? -unit : unit;
  }
  return result;
}

// a^n modulo 2^8, or the fraction cut towards zero.
double power(double a, double n) {
  if (n < 0) return a == 0 ? NAN : std::trunc(std::pow(a, n));
  double result = 1;
  for (int i = 0; i < n; i++) result = std::fmod(result * a, 256);
  return result;
}

constexpr Meaning kMeanings[] = {
    {Op::Add, [](double a, double b) { return a + b; }},
    {Op::Sub, [](double a, double b) { return a - b; }},
    {Op::Mul, [](double a, double b) { return a * b; }},
    {Op::Div, [](double a, double b) { return b == 0 ? NAN : std::floor(a / b); }},
    {Op::Mod, [](double a, double b) { return b == 0 ? NAN : a - b * std::floor(a / b); }},
    {Op::TDiv, [](double a, double b) { return b == 0 ? NAN : std::trunc(a / b); }},
    {Op::TMod, [](double a, double b) { return b == 0 ? NAN : std::fmod(a, b); }},
    {Op::Max, [](double a, double b) { return std::fmax(a, b); }},
    {Op::Min, [](double a, double b) { return std::fmin(a, b); }},
    {Op::And, [](double a, double b) { return bits(a, b, [](bool x, bool y) { return x && y; }); }},
    {Op::Or, [](double a, double b) { return bits(a, b, [](bool x, bool y) { return x || y; }); }},
    {Op::Xor, [](double a, double b) { return bits(a, b, [](bool x, bool y) { return x != y; }); }},
    {Op::Shl, [](double a, double b) { return b < 0 || b > 7 ? NAN : a * std::exp2(b); }},
    {Op::Shr,
     [](double a, double b) { return b < 0 || b > 7 ? NAN : std::floor(a / std::exp2(b)); }},
    {Op::Pow, power},
    {Op::Neg, [](double a, double) { return -a; }},
    {Op::Not, [](double a, double) { return -a - 1; }},
};

// An exact number at 8 bits, modulo 256.
std::optional<Value> wrapped(DType t, double x) {
  if (std::isnan(x)) return std::nullopt;
  const double low = x - 256 * std::floor(x / 256);
  return t == U8 ? held(U8, static_cast<uint8_t>(low))
                 : held(I8, static_cast<int8_t>(low >= 128 ? low - 256 : low));
}

TEST(EvalInt, MeansWhatItSaysOnAllPairsOf8Bits) {
  Ledger ledger;
  for (const DType t : {I8, U8}) {
    for (const Meaning& m : kMeanings) {
      for (const Value a : all_values(t)) {
        for (const Value b : all_values(t)) {
          const auto x = static_cast<double>(decode(a));
          const auto y = static_cast<double>(decode(b));
          const bool unary = info(m.op).max_sources == 1;
          ledger.same(to_text(m.op), {{a, b}}, unary ? run(m.op, a) : run(m.op, a, b),
                      wrapped(t, m.of(x, y)));
        }
      }
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(EvalInt, FusesOnManyTriplesOf8Bits) {
  Ledger ledger;
  for (const DType t : {I8, U8}) {
    const std::vector<Value> all = all_values(t);
    for (const Value a : all) {
      for (const Value b : all) {
        for (size_t i = a.bits % 7; i < all.size(); i += 7) {
          const Value src[] = {a, b, all[i]};
          const auto exact = static_cast<double>(decode(a) * decode(b) + decode(all[i]));
          ledger.same("fma", src, eval(Op::Fma, t, src), wrapped(t, exact));
        }
      }
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

// For all divisors: the quotient and remainder give back the dividend, the remainder is smaller
// than the divisor, and has its sign (floor) or the dividend's (truncating).
TEST(EvalInt, DividesByItsDefinitionAtAllWidths) {
  for (const DType t : {I8, U8, I16, U16, I32, U32, I64, U64}) {
    Random random(3);
    const std::vector<Value> values = some_values(t);
    for (int i = 0; i < 20000; i++) {
      const Value a = values[random.next() % values.size()];
      const Value b = values[random.next() % values.size()];
      if (b.bits == 0) continue;
      const Int128 x = as_int(a);
      const Int128 y = as_int(b);
      if (x == min_int(t) && y == -1) continue;
      const Int128 q = as_int(sure(run(Op::Div, a, b)));
      const Int128 r = as_int(sure(run(Op::Mod, a, b)));
      ASSERT_TRUE(q * y + r == x && (y > 0 ? 0 <= r && r < y : y < r && r <= 0)) << show(a);
      const Int128 p = as_int(sure(run(Op::TDiv, a, b)));
      const Int128 s = as_int(sure(run(Op::TMod, a, b)));
      const Int128 size = y < 0 ? -y : y;
      ASSERT_TRUE(p * y + s == x && (x >= 0 ? 0 <= s && s < size : -size < s && s <= 0)) << show(a);
    }
  }
}

TEST(EvalInt, WrapsTheOneQuotientThatDoesNotFit) {
  for_each_int([]<typename T>(DType t) {
    if (!std::is_signed_v<T>) return;
    const Value least = held(t, std::numeric_limits<T>::min());
    const Value minus_one = held(t, static_cast<T>(-1));
    for (const Op op : {Op::Div, Op::TDiv}) EXPECT_EQ(run(op, least, minus_one), least);
    for (const Op op : {Op::Mod, Op::TMod}) EXPECT_EQ(run(op, least, minus_one), held(t, T{0}));
    EXPECT_EQ(run(Op::Neg, least), least);
  });
}

// The compiler's arithmetic modulo 2^bits.
template <typename T>
void check_wide(Ledger& ledger, DType t, Value a, Value b) {
  const auto x = static_cast<T>(a.bits);
  const auto y = static_cast<T>(b.bits);
  T sum = 0;
  T difference = 0;
  T product = 0;
  static_cast<void>(__builtin_add_overflow(x, y, &sum));
  static_cast<void>(__builtin_sub_overflow(x, y, &difference));
  static_cast<void>(__builtin_mul_overflow(x, y, &product));
  const auto expect = [&](Op op, T want) {
    ledger.same(to_text(op), {{a, b}}, run(op, a, b), held(t, want));
  };
  expect(Op::Add, sum);
  expect(Op::Sub, difference);
  expect(Op::Mul, product);
  expect(Op::Max, x < y ? y : x);
  expect(Op::Min, x < y ? x : y);
  expect(Op::And, static_cast<T>(x & y));
  expect(Op::Or, static_cast<T>(x | y));
  expect(Op::Xor, static_cast<T>(x ^ y));
  T fused = 0;
  static_cast<void>(__builtin_add_overflow(product, x, &fused));
  const Value src[] = {a, b, a};
  ledger.same("fma", src, eval(Op::Fma, t, src), held(t, fused));
  const int n = static_cast<int>(b.bits % sizeof(T)) * 8 + static_cast<int>(a.bits % 8);
  const Value by = held(t, static_cast<T>(n));
  const auto up = static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << n);
  ledger.same("shl", {{a, by}}, run(Op::Shl, a, by), held(t, up));
  ledger.same("shr", {{a, by}}, run(Op::Shr, a, by), held(t, static_cast<T>(x >> n)));
  const Value past = held(t, static_cast<T>(8 * sizeof(T)));
  ledger.same("shl", {{a, past}}, run(Op::Shl, a, past), std::nullopt);
  ledger.same("shr", {{a, past}}, run(Op::Shr, a, past), std::nullopt);
  ledger.same("lt", {{a, b}}, eval(Op::Lt, Bool, {{a, b}}), of_bool(x < y));
  ledger.same("eq", {{a, b}}, eval(Op::Eq, Bool, {{a, b}}), of_bool(x == y));
  ledger.same("ne", {{a, b}}, eval(Op::Ne, Bool, {{a, b}}), of_bool(x != y));
}

TEST(EvalInt, WrapsAtEveryWidth) {
  Ledger ledger;
  for_each_int([&]<typename T>(DType t) {
    Random random(4);
    const std::vector<Value> values = some_values(t);
    for (int i = 0; i < 20000; i++) {
      const Value a = values[random.next() % values.size()];
      const Value b = i % 8 == 0 ? a : values[random.next() % values.size()];
      check_wide<T>(ledger, t, a, b);
    }
  });
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(EvalInt, RaisesToPowersModuloTheWidth) {
  EXPECT_EQ(run(Op::Pow, held(U64, uint64_t{3}), held(U64, uint64_t{41})),
            held(U64, uint64_t{18026252303461234787U}));  // 3^41 - 2^64
  EXPECT_EQ(run(Op::Pow, held(I64, int64_t{-2}), held(I64, int64_t{63})), held(I64, INT64_MIN));
  EXPECT_EQ(run(Op::Pow, held(I32, 2), held(I32, 32)), held(I32, 0));
  EXPECT_EQ(run(Op::Pow, held(U64, uint64_t{3}), held(U64, UINT64_MAX)),
            held(U64, uint64_t{12297829382473034411U}));  // the inverse of 3 modulo 2^64
  EXPECT_EQ(run(Op::Pow, held(I64, int64_t{-1}), held(I64, INT64_MIN)), held(I64, int64_t{1}));
}

TEST(EvalIndex, IsExactOrNothing) {
  const auto index = [](int64_t x) { return held(Index, x); };
  const Value least = index(INT64_MIN);
  const Value most = index(INT64_MAX);
  EXPECT_EQ(run(Op::Add, most, index(1)), std::nullopt);
  EXPECT_EQ(run(Op::Add, most, index(0)), most);
  EXPECT_EQ(run(Op::Sub, least, index(1)), std::nullopt);
  EXPECT_EQ(run(Op::Neg, least), std::nullopt);
  EXPECT_EQ(run(Op::Not, least), most);
  EXPECT_EQ(run(Op::Mul, index(int64_t{1} << 32), index(int64_t{1} << 31)), std::nullopt);
  EXPECT_EQ(run(Op::Mul, index(-(int64_t{1} << 32)), index(int64_t{1} << 31)), least);
  EXPECT_EQ(run(Op::Div, least, index(-1)), std::nullopt);
  EXPECT_EQ(run(Op::TDiv, least, index(-1)), std::nullopt);
  EXPECT_EQ(run(Op::Mod, least, index(-1)), index(0));
  EXPECT_EQ(run(Op::Div, index(-7), index(2)), index(-4));
  EXPECT_EQ(run(Op::Mod, index(-7), index(2)), index(1));
  EXPECT_EQ(run(Op::Shl, index(-1), index(63)), least);
  EXPECT_EQ(run(Op::Shl, index(1), index(63)), std::nullopt);
  EXPECT_EQ(run(Op::Shl, index(0), index(63)), index(0));
  EXPECT_EQ(run(Op::Shl, index(INT64_MIN), index(63)), std::nullopt);
  EXPECT_EQ(run(Op::Shr, least, index(63)), index(-1));
  EXPECT_EQ(run(Op::Shr, least, index(64)), std::nullopt);
  EXPECT_EQ(run(Op::Pow, index(2), index(62)), index(int64_t{1} << 62));
  EXPECT_EQ(run(Op::Pow, index(2), index(63)), std::nullopt);
  EXPECT_EQ(run(Op::Pow, index(-2), index(63)), least);
  EXPECT_EQ(run(Op::Pow, index(-1), most), index(-1));
  EXPECT_EQ(run(Op::Pow, index(0), most), index(0));
  EXPECT_EQ(run(Op::Pow, index(0), index(0)), index(1));
  const Value src[] = {most, most, least};
  EXPECT_EQ(eval(Op::Fma, Index, src), std::nullopt);
  const Value fits[] = {most, index(2), index(-INT64_MAX)};
  EXPECT_EQ(eval(Op::Fma, Index, fits), most);
}

TEST(EvalBool, IsTheTruthTable) {
  struct Row {
    Op op;
    int table;  // bit 2a+b is the result for (a, b)
  };
  const Row rows[] = {{Op::And, 0b1000}, {Op::Min, 0b1000}, {Op::Or, 0b1110}, {Op::Max, 0b1110},
                      {Op::Xor, 0b0110}, {Op::Lt, 0b0010},  {Op::Eq, 0b1001}, {Op::Ne, 0b0110}};
  for (const Row& row : rows) {
    for (int i = 0; i < 4; i++) {
      const Value want = of_bool(((row.table >> i) & 1) != 0);
      EXPECT_EQ(run(row.op, of_bool(i / 2 != 0), of_bool(i % 2 != 0)), want)
          << to_text(row.op) << " " << i;
    }
  }
  EXPECT_EQ(run(Op::Not, of_bool(true)), of_bool(false));
  EXPECT_EQ(run(Op::Not, of_bool(false)), of_bool(true));
}

TEST(EvalWhere, PicksOneSourceAndKeepsItsBits) {
  for (const DType t : kAllScalars) {
    const std::vector<Value> values = some_values(t);
    for (size_t i = 0; i + 1 < values.size(); i++) {
      const Value yes[] = {of_bool(true), values[i], values[i + 1]};
      const Value no[] = {of_bool(false), values[i], values[i + 1]};
      ASSERT_EQ(eval(Op::Where, t, yes), values[i]);
      ASSERT_EQ(eval(Op::Where, t, no), values[i + 1]);
    }
  }
}

TEST(Threefry, GivesThePublishedAnswers) {
  // Known answers of Random123 for threefry2x32 with 20 rounds: counter, key, result, each as two
  // words, the low one first.
  const auto pair = [](uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; };
  const uint64_t answers[][3] = {
      {0, 0, pair(0x6b200159, 0x99ba4efe)},
      {pair(~0U, ~0U), pair(~0U, ~0U), pair(0x1cb996fc, 0xbb002be7)},
      {pair(0x243f6a88, 0x85a308d3), pair(0x13198a2e, 0x03707344), pair(0xc4923a9c, 0x483df7a0)}};
  for (const auto& [counter, key, result] : answers) {
    EXPECT_EQ(run(Op::Threefry, held(U64, counter), held(U64, key)), held(U64, result));
  }
}

TEST(Evaluator, TakesItsLeavesInTheOrderOfTheTerm) {
  Graph g;
  const Ref y = g.variable("y", I32);
  const Ref x = g.variable("x", I32);
  Evaluator evaluator(g, g.alu(Op::Sub, {g.alu(Op::Mul, {x, g.constant(I32, 10)}), y}));
  ASSERT_EQ(evaluator.leaves(), (std::vector<Ref>{x, y}));
  const Cell first = evaluator.run({{held(I32, 7), held(I32, 1)}});
  ASSERT_TRUE(first.defined());
  EXPECT_EQ(first.value, held(I32, 69));
  EXPECT_EQ(evaluator.run({{held(I32, 1), held(I32, 7)}}).value, held(I32, 3));
}

TEST(Evaluator, TellsUnspecifiedFromInvalid) {
  Graph g;
  const Ref x = g.variable("x", I32);
  const Ref quotient = g.alu(Op::Div, {g.constant(I32, 8), x});
  const Ref invalid = g.make(Op::Invalid, I32, {});
  const Ref gate = g.alu(Op::Lt, {x, g.constant(I32, 0)});
  const auto state = [&](Ref root, int value) {
    return Evaluator(g, root).run({{held(I32, value)}}).state;
  };
  const Ref next = g.alu(Op::Add, {quotient, x});
  EXPECT_EQ(state(next, 2), Cell::State::Defined);
  EXPECT_EQ(state(next, 0), Cell::State::Unspecified);
  EXPECT_EQ(state(g.alu(Op::Add, {next, invalid}), 0), Cell::State::Invalid);
  // A where needs its condition and the source that it picks, and no more.
  const Ref guarded = g.alu(Op::Where, {gate, invalid, quotient});
  EXPECT_EQ(state(guarded, -1), Cell::State::Invalid);
  EXPECT_EQ(state(guarded, 0), Cell::State::Unspecified);
  EXPECT_EQ(state(guarded, 4), Cell::State::Defined);
  const Ref condition = g.alu(Op::Lt, {quotient, g.constant(I32, 0)});
  EXPECT_EQ(state(g.alu(Op::Where, {condition, x, x}), 0), Cell::State::Unspecified);
}

}  // namespace
}  // namespace assay::uop
