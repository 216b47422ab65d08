#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/test_numbers.h"

// Sums, products, quotients, max, min, comparisons and fused sums of floats.
namespace assay::uop {
namespace {

using Real = long double;

Value result_of(Op op, Value a, Value b) {
  const Value src[] = {a, b};
  return sure(eval(op, a.dtype, src));
}
Value fma(Value a, Value b, Value c) {
  const Value src[] = {a, b, c};
  return sure(eval(Op::Fma, a.dtype, src));
}

// IEEE 754-2019 maximum and minimum.
Value extreme(Op op, Value a, Value b) {
  const Real x = decode(a);
  const Real y = decode(b);
  if (std::isnan(x) || std::isnan(y)) return default_nan(a.dtype);
  if (x == y) return (a.bits > b.bits) == (op == Op::Min) ? a : b;  // -0.0 has the larger bits
  return (x > y) == (op == Op::Max) ? a : b;
}

// Sums and products of two numbers of 8 bits are exact in 64 bits. A quotient of 4-bit numbers that
// is not exact differs from the middle of two 4-bit numbers by more than 2^-10 of it, so that its
// 64 bits decide.
void check_pair(Ledger& ledger, Value a, Value b) {
  const DType t = a.dtype;
  const Real x = decode(a);
  const Real y = decode(b);
  ledger.same("add", {{a, b}}, result_of(Op::Add, a, b), nearest(t, x + y));
  ledger.same("sub", {{a, b}}, result_of(Op::Sub, a, b), nearest(t, x - y));
  ledger.same("mul", {{a, b}}, result_of(Op::Mul, a, b), nearest(t, x * y));
  ledger.same("fdiv", {{a, b}}, result_of(Op::FDiv, a, b), nearest(t, x / y));
  ledger.same("max", {{a, b}}, result_of(Op::Max, a, b), extreme(Op::Max, a, b));
  ledger.same("min", {{a, b}}, result_of(Op::Min, a, b), extreme(Op::Min, a, b));
  ledger.same("lt", {{a, b}}, eval(Op::Lt, Bool, {{a, b}}), of_bool(x < y));
  ledger.same("eq", {{a, b}}, eval(Op::Eq, Bool, {{a, b}}), of_bool(x == y));
  ledger.same("ne", {{a, b}}, eval(Op::Ne, Bool, {{a, b}}), of_bool(x != y));
}

TEST(Arithmetic, IsRoundedOnceOnAllPairsOf8Bits) {
  Ledger ledger;
  for (const DType t : {E4M3, E5M2}) {
    const std::vector<Value> all = all_values(t);
    for (const Value a : all) {
      for (const Value b : all) check_pair(ledger, a, b);
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

// The same of 11 and 8 bits: sums are exact in 64 bits for f16, not for bf16, whose exponents lie
// further apart.
TEST(Arithmetic, IsRoundedOnceOnManyHalves) {
  Ledger ledger;
  const std::vector<Value> all = all_values(F16);
  Random random(6);
  for (size_t i = 0; i < all.size(); i += 131) {
    for (size_t j = i % 127; j < all.size(); j += 127) check_pair(ledger, all[i], all[j]);
  }
  for (int i = 0; i < 100000; i++) check_pair(ledger, any_bits(random, F16), any_bits(random, F16));
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Arithmetic, AgreesWithTheCompilersHalf) {
  Ledger ledger;
  Random random(7);
  const auto half = [](Value v) { return std::bit_cast<_Float16>(static_cast<uint16_t>(v.bits)); };
  const auto value = [](_Float16 x) {
    return x != x ? default_nan(F16) : Value{F16, std::bit_cast<uint16_t>(x)};
  };
  for (int i = 0; i < 100000; i++) {
    const Value a = any_bits(random, F16);
    const Value b = any_bits(random, F16);
    const auto sum = static_cast<_Float16>(half(a) + half(b));
    const auto product = static_cast<_Float16>(half(a) * half(b));
    const auto quotient = static_cast<_Float16>(half(a) / half(b));
    ledger.same("add", {{a, b}}, result_of(Op::Add, a, b), value(sum));
    ledger.same("mul", {{a, b}}, result_of(Op::Mul, a, b), value(product));
    ledger.same("fdiv", {{a, b}}, result_of(Op::FDiv, a, b), value(quotient));
  }
  EXPECT_EQ(ledger.trouble(), "");
}

template <typename T>
Value value_of(DType t, T x) {
  if (std::isnan(x)) return default_nan(t);
  return t == F32 ? f32(static_cast<float>(x)) : f64(x);
}

// What the processor makes of two floats or doubles.
template <typename T>
void check_processor(Ledger& ledger, Value a, Value b) {
  const DType t = a.dtype;
  const auto x = static_cast<T>(decode(a));
  const auto y = static_cast<T>(decode(b));
  const auto same = [&](Op op, T want) {
    ledger.same(to_text(op), {{a, b}}, result_of(op, a, b), value_of(t, want));
  };
  same(Op::Add, x + y);
  same(Op::Sub, x - y);
  same(Op::Mul, x * y);
  same(Op::FDiv, x / y);
  ledger.same("max", {{a, b}}, result_of(Op::Max, a, b), extreme(Op::Max, a, b));
  ledger.same("min", {{a, b}}, result_of(Op::Min, a, b), extreme(Op::Min, a, b));
  ledger.same("lt", {{a, b}}, eval(Op::Lt, Bool, {{a, b}}), of_bool(x < y));
  ledger.same("eq", {{a, b}}, eval(Op::Eq, Bool, {{a, b}}), of_bool(x == y));
  ledger.same("ne", {{a, b}}, eval(Op::Ne, Bool, {{a, b}}), of_bool(x != y));
}

TEST(Arithmetic, AgreesWithTheProcessor) {
  Ledger ledger;
  for (const DType t : {F32, F64}) {
    Random random(8);
    const std::vector<Value> values = some_values(t);
    for (int i = 0; i < 200000; i++) {
      const Value a = values[random.next() % values.size()];
      const Value b = i % 16 == 0 ? a : any_bits(random, t);
      const auto check = t == F32 ? check_processor<float> : check_processor<double>;
      check(ledger, a, b);
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

// bf16 has the exponents of f32, whose 24 bits are enough to round a sum, a product or a quotient
// to 8 bits a second time.
TEST(Arithmetic, AgreesWithTheProcessorOnBfloats) {
  Ledger ledger;
  Random random(9);
  for (int i = 0; i < 200000; i++) {
    const Value a = any_bits(random, BF16);
    const Value b = any_bits(random, BF16);
    const auto x = static_cast<float>(decode(a));
    const auto y = static_cast<float>(decode(b));
    const auto same = [&](Op op, float want) {
      ledger.same(to_text(op), {{a, b}}, result_of(op, a, b), nearest(BF16, want));
    };
    same(Op::Add, x + y);
    same(Op::Sub, x - y);
    same(Op::Mul, x * y);
    same(Op::FDiv, x / y);
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Arithmetic, OfSpecialValuesIsIeee) {
  const double inf = INFINITY;
  for (const DType t : {E5M2, F16, BF16, F32, F64}) {
    const auto at = [&](double x) { return nearest(t, x); };
    EXPECT_EQ(result_of(Op::Add, at(inf), at(-inf)), at(NAN)) << to_text(t);
    EXPECT_EQ(result_of(Op::Sub, at(inf), at(inf)), at(NAN)) << to_text(t);
    EXPECT_EQ(result_of(Op::Mul, at(0), at(inf)), at(NAN)) << to_text(t);
    EXPECT_EQ(result_of(Op::FDiv, at(0), at(0)), at(NAN)) << to_text(t);
    EXPECT_EQ(result_of(Op::FDiv, at(inf), at(inf)), at(NAN)) << to_text(t);
    EXPECT_EQ(result_of(Op::FDiv, at(1), at(-0.0)), at(-inf)) << to_text(t);
    EXPECT_EQ(result_of(Op::FDiv, at(1), at(-inf)), at(-0.0)) << to_text(t);
    EXPECT_EQ(result_of(Op::Add, at(0), at(-0.0)), at(0)) << to_text(t);
    EXPECT_EQ(result_of(Op::Add, at(-0.0), at(-0.0)), at(-0.0)) << to_text(t);
    EXPECT_EQ(result_of(Op::Sub, at(1), at(1)), at(0)) << to_text(t);
    EXPECT_EQ(result_of(Op::Mul, at(-1), at(0)), at(-0.0)) << to_text(t);
    EXPECT_EQ(result_of(Op::Add, {t, 1}, {t, 1}), (Value{t, 2}))
        << to_text(t);  // subnormals are kept
  }
}

TEST(Fma, IsRoundedOnceOnAllTriplesOf8Bits) {
  Ledger ledger;
  for (const DType t : {E4M3, E5M2}) {
    const std::vector<Value> all = all_values(t);
    for (const Value a : all) {
      for (const Value b : all) {
        const auto step = static_cast<size_t>(stride(23));
        for (size_t i = (a.bits + b.bits) % step; i < all.size(); i += step) {
          const Value c = all[i];
          const Real exact = decode(a) * decode(b) + decode(c);  // at most 48 bits
          ledger.same("fma", {{a, b, c}}, fma(a, b, c), nearest(t, exact));
        }
      }
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

// In units of 2^-48 every product and every sum of halves is a whole number of at most 82 bits.
// What does not fit 62 of them is only noted in the last, which no rounding to 11 bits can miss.
Real exact_fma_of_halves(Value a, Value b, Value c) {
  const auto units = [](Value v, int exponent) {
    return static_cast<Int128>(std::ldexp(decode(v), exponent));
  };
  Int128 sum = units(a, 24) * units(b, 24) + units(c, 48);
  int exponent = -48;
  for (; sum > (Int128{1} << 61) || sum < -(Int128{1} << 61); exponent++) {
    sum = (sum >> 1) | (sum & 1);
  }
  return std::ldexp(static_cast<Real>(static_cast<int64_t>(sum)), exponent);
}

TEST(Fma, IsRoundedOnceOnManyHalves) {
  Ledger ledger;
  Random random(10);
  for (int i = 0; i < 300000; i++) {
    const Value a = any_bits(random, F16);
    const Value b = any_bits(random, F16);
    const Value c = any_bits(random, F16);
    const bool finite =
        std::isfinite(decode(a)) && std::isfinite(decode(b)) && std::isfinite(decode(c));
    const Real exact = finite ? exact_fma_of_halves(a, b, c) : decode(a) * decode(b) + decode(c);
    if (exact == 0) continue;  // its sign is seen at 8 bits
    ledger.same("fma", {{a, b, c}}, fma(a, b, c), nearest(F16, exact));
  }
  EXPECT_EQ(ledger.trouble(), "");
}

template <typename T>
Value library_fma(Value a, Value b, Value c) {
  const auto number = [](Value v) { return static_cast<T>(decode(v)); };
  return value_of(a.dtype, std::fma(number(a), number(b), number(c)));
}

TEST(Fma, AgreesWithTheCLibrary) {
  Ledger ledger;
  for (const DType t : {F32, F64}) {
    Random random(11);
    const std::vector<Value> values = some_values(t);
    for (int i = 0; i < 200000; i++) {
      const Value a = any_bits(random, t);
      const Value b = i % 2 == 0 ? any_bits(random, t) : values[random.next() % values.size()];
      Value c = any_bits(random, t);
      // A sum that nearly cancels shows the low half of the product.
      if (i % 3 == 0) c = result_of(Op::Sub, zero_of(t), result_of(Op::Mul, a, b));
      ledger.same("fma", {{a, b, c}}, fma(a, b, c),
                  t == F32 ? library_fma<float>(a, b, c) : library_fma<double>(a, b, c));
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

using Fused = Value (*)(Value, Value, Value);

// Products on the middle of two neighbours, of which the even one lies below or above, and a third
// number, too small for a double to see, on either side.
bool sees_the_last_bit(Fused fused) {
  const auto at = [&](DType t, double x, double y, double c) {
    return fused(nearest(t, x), nearest(t, y), nearest(t, c));
  };
  const double x = 1 + 0x1p-12;
  const double y = 1 + 0x1.8p-11;
  const double z = 1 + 0x1p-4;
  const double tiny = 0x1p-120;
  return at(F32, x, x, tiny) == f32(1 + 0x1p-11F + 0x1p-23F) &&
         at(F32, x, x, -tiny) == f32(1 + 0x1p-11F) && at(F32, x, x, 0) == f32(1 + 0x1p-11F) &&
         at(F32, x, y, -tiny) == f32(1 + 0x1p-10F + 0x1p-23F) &&
         at(F32, x, y, tiny) == f32(1 + 0x1p-10F + 0x1p-22F) &&
         at(F32, x, -y, tiny) == f32(-1 - 0x1p-10F - 0x1p-23F) &&
         at(BF16, z, z, tiny) == nearest(BF16, 1 + 0x1p-3 + 0x1p-7) &&
         at(BF16, z, z, -tiny) == nearest(BF16, 1 + 0x1p-3);
}

TEST(Fma, SeesTheLastBitOfABfloatAndASingle) {
  EXPECT_TRUE(sees_the_last_bit(fma));
  EXPECT_FALSE(sees_the_last_bit([](Value a, Value b, Value c) {
    return of_double(a.dtype, as_double(a) * as_double(b) + as_double(c));
  }));
}

}  // namespace
}  // namespace assay::uop
