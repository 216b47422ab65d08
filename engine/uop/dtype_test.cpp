#include "engine/uop/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/uop/test_numbers.h"
#include "engine/uop/value.h"

namespace assay::uop {
namespace {

std::string type_name(std::optional<DType> t) { return t ? std::string(to_text(*t)) : "."; }

TEST(DType, IsReadBackFromItsName) {
  const std::string names =
      "void bool index i8 u8 i16 u16 i32 u32 i64 u64 e4m3 e5m2 f16 bf16 f32 f64";
  std::istringstream in(names);
  int count = 0;
  for (std::string name; in >> name; count++) {
    const std::optional<DType> t = dtype_from_text(name);
    ASSERT_TRUE(t.has_value()) << name;
    EXPECT_EQ(to_text(sure(t)), name);
    EXPECT_EQ(static_cast<int>(sure(t)), count) << name;
  }
  EXPECT_EQ(count, kDTypeCount);
}

TEST(DType, HasNoOtherName) {
  for (const char* name : {"", "i", "i128", "F32", "f32 ", "float", "half"}) {
    EXPECT_FALSE(dtype_from_text(name).has_value()) << name;
  }
}

TEST(DType, HasTheSizeOfItsCppType) {
  for_each_int([]<typename T>(DType t) {
    EXPECT_EQ(bits_of(t), 8 * static_cast<int>(sizeof(T))) << to_text(t);
    EXPECT_EQ(bytes_of(t), static_cast<int>(sizeof(T))) << to_text(t);
    EXPECT_EQ(is_unsigned(t), std::is_unsigned_v<T>) << to_text(t);
    EXPECT_TRUE(is_fixed_int(t) && is_int(t) && !is_float(t)) << to_text(t);
  });
  EXPECT_EQ(bits_of(F16), 8 * static_cast<int>(sizeof(_Float16)));
  EXPECT_EQ(bytes_of(Bool), 1);
  EXPECT_EQ(bytes_of(Void), 0);
  EXPECT_TRUE(is_int(Index) && !is_fixed_int(Index) && !is_int(Bool) && is_unsigned(Bool));
}

TEST(TypeSet, IsNamedOrListed) {
  EXPECT_EQ(to_text(kInts), "ints");
  EXPECT_EQ(to_text(kLogic), "ints bool");
  EXPECT_EQ(to_text(kSigned | kUnsigned), "fixed");
  EXPECT_EQ(to_text(TypeSet{F32, I8, U64}), "i8 u64 f32");
  EXPECT_EQ(to_text(TypeSet{}), "");
}

TEST(TypeSet, IsMadeOfItsKinds) {
  for (const DType t : kAllScalars) {
    EXPECT_EQ(kFloats.has(t), kind_of(t) == Kind::Float) << to_text(t);
    EXPECT_EQ(kFixedInts.has(t), kind_of(t) == Kind::Signed || kind_of(t) == Kind::Unsigned);
    EXPECT_EQ(kInts.has(t), kFixedInts.has(t) || t == Index) << to_text(t);
    EXPECT_EQ(kNumbers.has(t), t != Bool) << to_text(t);
    EXPECT_TRUE(kScalars.has(t)) << to_text(t);
  }
  EXPECT_FALSE(kScalars.has(Void));
  EXPECT_TRUE((kFloats & kInts).empty());
}

TEST(DType, HasTheRangeOfItsCppType) {
  for_each_int([]<typename T>(DType t) {
    EXPECT_TRUE(min_int(t) == Int128{std::numeric_limits<T>::min()}) << to_text(t);
    EXPECT_TRUE(max_int(t) == Int128{std::numeric_limits<T>::max()}) << to_text(t);
  });
  EXPECT_TRUE(min_int(Bool) == 0 && max_int(Bool) == 1);
  EXPECT_TRUE(min_int(Index) == Int128{INT64_MIN} && max_int(Index) == Int128{INT64_MAX});
}

TEST(Wrap, IsTheCppConversion) {
  Random random(1);
  for_each_int([&]<typename T>(DType t) {
    for (int i = 0; i < 20000; i++) {
      const auto high = static_cast<Int128>(static_cast<int64_t>(random.next()) >> (i % 64));
      const Int128 x = high * (Int128{1} << (i % 65)) + static_cast<int64_t>(random.next());
      ASSERT_TRUE(wrap(t, x) == Int128{static_cast<T>(x)}) << to_text(t) << " step " << i;
    }
    for (int x = -70000; x <= 70000; x++) {
      ASSERT_TRUE(wrap(t, x) == Int128{static_cast<T>(x)}) << to_text(t) << " of " << x;
      ASSERT_EQ(fits(t, x), std::in_range<T>(x)) << to_text(t) << " of " << x;
    }
  });
  EXPECT_TRUE(wrap(Bool, 2) == 0 && wrap(Bool, -1) == 1);
  EXPECT_TRUE(wrap(Index, INT64_MIN) == Int128{INT64_MIN});
}

TEST(WrapDeathTest, RefusesAnIndexPast64Bits) {
  EXPECT_DEATH(of_int(Index, Int128{INT64_MAX} + 1), "index constants hold 64 bits");
}

// The lattice as it stands in README.md: row joined with column.
constexpr const char* kPromotions = R"(
      bool index i8   u8   i16  u16  i32  u32  i64  u64  e4m3 e5m2 f16 bf16 f32 f64
bool  bool index i8   u8   i16  u16  i32  u32  i64  u64  e4m3 e5m2 f16 bf16 f32 f64
index index index .   .    .    .    .    .    .    .    .    .    .   .    .   .
i8    i8   .     i8   i16  i16  i32  i32  i64  i64  u64  e4m3 e5m2 f16 bf16 f32 f64
u8    u8   .     i16  u8   i16  u16  i32  u32  i64  u64  e4m3 e5m2 f16 bf16 f32 f64
i16   i16  .     i16  i16  i16  i32  i32  i64  i64  u64  e4m3 e5m2 f16 bf16 f32 f64
u16   u16  .     i32  u16  i32  u16  i32  u32  i64  u64  e4m3 e5m2 f16 bf16 f32 f64
i32   i32  .     i32  i32  i32  i32  i32  i64  i64  u64  e4m3 e5m2 f16 bf16 f32 f64
u32   u32  .     i64  u32  i64  u32  i64  u32  i64  u64  e4m3 e5m2 f16 bf16 f32 f64
i64   i64  .     i64  i64  i64  i64  i64  i64  i64  u64  e4m3 e5m2 f16 bf16 f32 f64
u64   u64  .     u64  u64  u64  u64  u64  u64  u64  u64  e4m3 e5m2 f16 bf16 f32 f64
e4m3  e4m3 .     e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 f16  f16 bf16 f32 f64
e5m2  e5m2 .     e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 f16  e5m2 f16 bf16 f32 f64
f16   f16  .     f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16 f32  f32 f64
bf16  bf16 .     bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64
f32   f32  .     f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32 f32  f32 f64
f64   f64  .     f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64 f64  f64 f64
)";

TEST(Promote, IsTheTable) {
  std::istringstream in(kPromotions);
  constexpr int kColumns = kDTypeCount - 1;
  std::vector<DType> columns;
  for (int i = 0; i < kColumns; i++) {
    std::string name;
    in >> name;
    columns.push_back(sure(dtype_from_text(name)));
  }
  int rows = 0;
  for (std::string row; in >> row; rows++) {
    for (const DType column : columns) {
      std::string want;
      in >> want;
      EXPECT_EQ(type_name(promote(sure(dtype_from_text(row)), column)), want)
          << row << " with " << to_text(column);
    }
  }
  EXPECT_EQ(rows, kColumns);
}

TEST(Promote, JoinsVoidWithNothingElse) {
  EXPECT_EQ(promote(Void, Void), Void);
  for (const DType t : kAllScalars) {
    EXPECT_EQ(promote(Void, t), std::nullopt) << to_text(t);
    EXPECT_EQ(promote(t, Void), std::nullopt) << to_text(t);
  }
}

TEST(Promote, IsCommutativeAndIdempotent) {
  for (const DType a : kAllScalars) {
    EXPECT_EQ(promote(a, a), a);
    for (const DType b : kAllScalars) EXPECT_EQ(promote(a, b), promote(b, a));
  }
}

std::optional<DType> join(std::optional<DType> a, std::optional<DType> b) {
  return a && b ? promote(*a, *b) : std::nullopt;
}

// The two 8-bit floats have two least upper bounds, f16 and bf16. The table picks f16, which costs
// associativity exactly where bf16 is the third: (e4m3 e5m2) bf16 is f32, e4m3 (e5m2 bf16) is bf16.
TEST(Promote, IsAssociativeButForBothSmallFloatsWithBf16) {
  for (const DType a : kAllScalars) {
    for (const DType b : kAllScalars) {
      for (const DType c : kAllScalars) {
        const TypeSet all = {a, b, c};
        const std::optional<DType> left = join(promote(a, b), c);
        const std::optional<DType> right = join(a, promote(b, c));
        const bool both = all == TypeSet{E4M3, E5M2, BF16} && b != BF16;
        if (both) {
          EXPECT_NE(left, right) << to_text(a) << " " << to_text(b) << " " << to_text(c);
          continue;
        }
        EXPECT_EQ(left, right) << to_text(a) << " " << to_text(b) << " " << to_text(c);
      }
    }
  }
}

// Whether `to` holds every value of `from`, found by putting each there.
bool holds_all(DType from, DType to) {
  for (const Value v : all_values(from)) {
    const std::optional<Value> there = cast(v, to);
    if (!there) return false;
    const long double x = decode(v);
    const long double y = decode(*there);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x != y || std::signbit(x) != std::signbit(y) || cast(*there, from) != v) return false;
  }
  return true;
}

TEST(IsLossless, HoldsWhereEveryValueOfASmallTypeComesBack) {
  int lossless = 0;
  for (const DType from : {Bool, I8, U8, I16, U16, E4M3, E5M2, F16, BF16}) {
    for (const DType to : kAllScalars) {
      EXPECT_EQ(is_lossless(from, to), holds_all(from, to))
          << to_text(from) << " to " << to_text(to);
      lossless += is_lossless(from, to) ? 1 : 0;
    }
  }
  EXPECT_GT(lossless, 40);
}

TEST(IsLossless, HoldsForWideTypesAsListed) {
  const auto takers = [](DType from) {
    TypeSet to;
    for (int i = 0; i < kDTypeCount; i++) {
      if (is_lossless(from, DType(i))) to = to | TypeSet{DType(i)};
    }
    return to_text(to);
  };
  EXPECT_EQ(takers(I32), "index i32 i64 f64");
  EXPECT_EQ(takers(U32), "index u32 i64 u64 f64");
  EXPECT_EQ(takers(I64), "index i64");
  EXPECT_EQ(takers(U64), "u64");
  EXPECT_EQ(takers(F32), "f32 f64");
  EXPECT_EQ(takers(F64), "f64");
  EXPECT_EQ(takers(Index), "index");
  EXPECT_EQ(takers(Void), "void");
}

// Where promotion leaves a value as it is, it says so: joins of integers with integers and of
// floats with floats lose nothing, but for i64 with u64.
TEST(Promote, LosesNothingWithinAKind) {
  for (const DType a : kAllScalars) {
    for (const DType b : kAllScalars) {
      const std::optional<DType> t = promote(a, b);
      if (!t || is_float(a) != is_float(b) || a == Bool || b == Bool) continue;
      const bool loses = kSigned.has(a) && *t == U64;
      EXPECT_EQ(is_lossless(a, *t), !loses) << to_text(a) << " " << to_text(b);
    }
  }
}

TEST(FloatFormat, HasTheLimitsOfItsCppType) {
  EXPECT_EQ(format_of(F32).max_exponent(), std::numeric_limits<float>::max_exponent - 1);
  EXPECT_EQ(format_of(F64).max_exponent(), std::numeric_limits<double>::max_exponent - 1);
  EXPECT_EQ(std::ldexp(1.0, format_of(F64).min_exponent()),
            std::numeric_limits<double>::denorm_min());
  for (const DType t : kAllFloats) {
    const FloatFormat f = format_of(t);
    EXPECT_EQ(1 + f.exponent_bits + f.mantissa_bits, bits_of(t)) << to_text(t);
    EXPECT_EQ(std::ldexp(1.0L, f.min_exponent()), decode({t, 1})) << to_text(t);
  }
}

}  // namespace
}  // namespace assay::uop
