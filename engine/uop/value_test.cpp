#include "engine/uop/value.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "engine/uop/test_numbers.h"

namespace assay::uop {
namespace {

TEST(Cast, WidensEverySmallFloatExactly) {
  Ledger ledger;
  for (const DType from : kSmallFloats) {
    for (const Value v : all_values(from)) {
      const long double x = decode(v);
      ledger.same("cast", {{v}}, cast(v, F32), f32(std::isnan(x) ? NAN : static_cast<float>(x)));
      ledger.same("cast", {{v}}, cast(v, F64), f64(std::isnan(x) ? NAN : static_cast<double>(x)));
      if (!std::isnan(x)) {
        ledger.same("as_double", {{v}}, f64(as_double(v)), f64(static_cast<double>(x)));
      }
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Cast, TakesEveryFloatToEveryFloat) {
  Ledger ledger;
  for (const DType from : kAllFloats) {
    for (const Value v : some_values(from)) {
      for (const DType to : kAllFloats) {
        ledger.same("cast", {{v}}, cast(v, to), from == to ? v : nearest(to, decode(v)));
      }
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Cast, WrapsIntegersAsCppDoes) {
  Ledger ledger;
  for_each_int([&]<typename From>(DType from) {
    for (const Value v : some_values(from)) {
      const auto x = static_cast<From>(v.bits);
      for_each_int([&]<typename To>(DType to) {
        ledger.same("cast", {{v}}, cast(v, to), held(to, static_cast<To>(x)));
      });
      ledger.same("cast", {{v}}, cast(v, Bool), Value{Bool, x != 0 ? 1U : 0U});
      const std::optional<Value> index =
          std::in_range<int64_t>(x) ? std::optional(held(Index, x)) : std::nullopt;
      ledger.same("cast", {{v}}, cast(v, Index), index);
    }
  });
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Cast, TakesIndexAsI64) {
  Ledger ledger;
  for (const Value v : some_values(I64)) {
    const Value index = {Index, v.bits};
    for (const DType to : kAllScalars) {
      if (to != Index) ledger.same("cast", {{index}}, cast(index, to), cast(v, to));
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Cast, RoundsIntegersToFloatsOnce) {
  Ledger ledger;
  for_each_int([&]<typename From>(DType from) {
    for (const Value v : some_values(from)) {
      for (const DType to : kAllFloats) {
        ledger.same("cast", {{v}}, cast(v, to), nearest(to, decode(v)));
      }
      // The compiler's own conversions, where there are any.
      const auto x = static_cast<From>(v.bits);
      ledger.same("cast", {{v}}, cast(v, F32), f32(static_cast<float>(x)));
      ledger.same("cast", {{v}}, cast(v, F64), f64(static_cast<double>(x)));
    }
  });
  EXPECT_EQ(ledger.trouble(), "");
}

// The contract: cut towards zero, and nothing where the integer does not fit.
std::optional<Value> cut(Value v, DType to) {
  const long double x = decode(v);
  if (std::isnan(x)) return std::nullopt;
  const auto lo = static_cast<long double>(static_cast<int64_t>(min_int(to)));
  const auto hi = static_cast<long double>(static_cast<uint64_t>(max_int(to)));
  if (x <= lo - 1 || x >= hi + 1) return std::nullopt;
  const bool big = x >= 0x1p63L;
  return Value{to, big ? static_cast<uint64_t>(x) : static_cast<uint64_t>(static_cast<int64_t>(x))};
}

TEST(Cast, CutsFloatsToIntegersOrGivesNothing) {
  Ledger ledger;
  for (const DType from : kAllFloats) {
    for (const Value v : some_values(from)) {
      for (const DType to : {I8, U8, I16, U16, I32, U32, I64, U64, Index}) {
        ledger.same("cast", {{v}}, cast(v, to), cut(v, to));
      }
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Cast, KnowsTheEndsOfEveryInteger) {
  for_each_int([]<typename T>(DType t) {
    const double past = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double last = std::nextafter(past, 0.0);
    EXPECT_EQ(cast(f64(past), t), std::nullopt) << to_text(t);
    EXPECT_EQ(cast(f64(last), t), held(t, static_cast<T>(last))) << to_text(t);
    const auto least = static_cast<double>(std::numeric_limits<T>::min());
    EXPECT_EQ(cast(f64(least), t), held(t, std::numeric_limits<T>::min())) << to_text(t);
    EXPECT_EQ(cast(f64(std::nextafter(least - 1, -INFINITY)), t), std::nullopt) << to_text(t);
  });
  EXPECT_EQ(cast(f64(-0.99), U8), held(U8, 0));
  EXPECT_EQ(cast(f64(-128.99), I8), held(I8, -128));
}

TEST(Cast, ToBoolIsNotZero) {
  Ledger ledger;
  for (const DType from : kAllScalars) {
    for (const Value v : some_values(from)) {
      const long double x = decode(v);  // a NaN differs from zero
      ledger.same("cast", {{v}}, cast(v, Bool), Value{Bool, x != 0 ? 1U : 0U});
    }
    for (const uint64_t bit : {0U, 1U}) {
      const long double x = bit;
      const Value want = is_float(from) ? nearest(from, x) : Value{from, bit};
      ledger.same("cast", {{Value{Bool, bit}}}, cast({Bool, bit}, from), want);
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
  EXPECT_EQ(cast(f64(-0.0), Bool), of_bool(false));
  EXPECT_EQ(cast(f64(NAN), Bool), of_bool(true));
  EXPECT_EQ(cast(f64(5e-324), Bool), of_bool(true));
}

TEST(OfInt, TakesIntegersPast64Bits) {
  const Int128 big = Int128{1} << 100;
  EXPECT_EQ(of_int(F64, big), f64(0x1p100));
  EXPECT_EQ(of_int(F64, -big - 1), f64(-0x1p100));
  EXPECT_EQ(of_int(F32, (big << 26) + (big << 2)), f32(0x1p126F));
  EXPECT_EQ(of_int(F32, (big << 26) + (big << 2) + 1), f32(0x1.000002p126F));
  EXPECT_EQ(of_int(F64, std::numeric_limits<Int128>::min()), f64(-0x1p127));
  EXPECT_EQ(of_int(U8, big + 7), held(U8, 7));
  EXPECT_EQ(of_int(Bool, big), of_bool(true));
}

TEST(RoundTo, SeesEveryBitOfAWideMantissa) {
  const UInt128 all = ~UInt128{0};
  // Just below the least subnormal, one half of it, and just above one half.
  EXPECT_EQ(round_to(F64, false, all, -1074 - 128), f64(0x1p-1074));
  EXPECT_EQ(round_to(F64, false, UInt128{1} << 127, -1074 - 128), f64(0));
  EXPECT_EQ(round_to(F64, true, (UInt128{1} << 127) + 1, -1074 - 128), f64(-0x1p-1074));
  EXPECT_EQ(round_to(F64, false, all, -1074 - 129), f64(0));
  EXPECT_EQ(round_to(F64, true, all, -1074 - 1000), f64(-0.0));
  EXPECT_EQ(round_to(F32, false, all, 0), f32(INFINITY));
  EXPECT_EQ(round_to(F32, false, all, -1), f32(0x1p127F));
  EXPECT_EQ(round_to(F64, false, 1, 1023), f64(0x1p1023));
  EXPECT_EQ(round_to(F64, false, 1, 1024), f64(INFINITY));
}

TEST(IsNan, KnowsEveryPattern) {
  Ledger ledger;
  for (const DType t : kAllFloats) {
    for (const Value v : some_values(t)) {
      ledger.same("is_nan", {{v}}, of_bool(is_nan(v)), of_bool(std::isnan(decode(v))));
    }
    EXPECT_EQ(nan_of(t), default_nan(t));
  }
  EXPECT_EQ(ledger.trouble(), "");
  EXPECT_FALSE(is_nan(held(U32, 0x7fc00000)));
}

// The low bits of v as memory holds them, read as a signed or another type.
Value reread(Value v, DType to) {
  const int spare = 64 - bits_of(to);
  const uint64_t top = v.bits << spare;
  if (!kSigned.has(to)) return {to, top >> spare};
  return {to, static_cast<uint64_t>(static_cast<int64_t>(top) >> spare)};
}

TEST(Bitcast, ReadsTheBytesOfMemory) {
  Ledger ledger;
  const TypeSet formless = kBool | kIndex;
  for (const DType from : kAllScalars) {
    for (const DType to : kAllScalars) {
      const bool fits = bits_of(from) == bits_of(to) && !formless.has(from) && !formless.has(to);
      for (const Value v : some_values(from)) {
        const std::optional<Value> want = fits ? std::optional(reread(v, to)) : std::nullopt;
        ledger.same("bitcast", {{v}}, bitcast(v, to), from == to ? v : want);
      }
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
}

TEST(Extremes, AreThoseOfTheCppTypes) {
  for_each_int([]<typename T>(DType t) {
    EXPECT_EQ(lowest(t), held(t, std::numeric_limits<T>::min()));
    EXPECT_EQ(highest(t), held(t, std::numeric_limits<T>::max()));
    EXPECT_EQ(zero_of(t), held(t, 0));
    EXPECT_EQ(one_of(t), held(t, 1));
  });
  EXPECT_EQ(lowest(Bool), of_bool(false));
  EXPECT_EQ(highest(Bool), of_bool(true));
  EXPECT_EQ(lowest(Index), held(Index, INT64_MIN));
  EXPECT_EQ(highest(Index), held(Index, INT64_MAX));
  for (const DType t : kAllFloats) {
    const long double top = t == E4M3 ? 448 : INFINITY;
    EXPECT_EQ(lowest(t), nearest(t, -top)) << to_text(t);
    EXPECT_EQ(highest(t), nearest(t, top)) << to_text(t);
    EXPECT_EQ(zero_of(t), nearest(t, 0)) << to_text(t);
    EXPECT_EQ(one_of(t), nearest(t, 1)) << to_text(t);
  }
}

TEST(Extremes, BoundEveryValue) {
  for (const DType t : kAllScalars) {
    for (const Value v : some_values(t)) {
      const long double x = decode(v);
      if (std::isnan(x)) continue;
      ASSERT_TRUE(decode(lowest(t)) <= x && x <= decode(highest(t))) << show(v);
    }
  }
}

}  // namespace
}  // namespace assay::uop
