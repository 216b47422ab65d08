#pragma once

#include "oracles/interpreter/numbers.h"

// What each scalar operation computes: of integers on int64_t or uint64_t, before wrapping; of
// floats on doubles, before rounding.
namespace assay::interpreter {

inline constexpr auto kNegative = [](auto a) { return Slot{0} - Slot(a); };
inline constexpr auto kInverted = [](auto a) { return ~Slot(a); };
inline constexpr auto kSum = [](auto a, auto b) { return Slot(a) + Slot(b); };
inline constexpr auto kDifference = [](auto a, auto b) { return Slot(a) - Slot(b); };
inline constexpr auto kProduct = [](auto a, auto b) { return Slot(a) * Slot(b); };
inline constexpr auto kSumOfProduct = [](auto a, auto b, auto c) {
  return Slot(a) * Slot(b) + Slot(c);
};
inline constexpr auto kAnd = [](auto a, auto b) { return a & b; };
inline constexpr auto kOr = [](auto a, auto b) { return a | b; };
inline constexpr auto kXor = [](auto a, auto b) { return a ^ b; };
inline constexpr auto kLarger = [](auto a, auto b) { return a > b ? a : b; };
inline constexpr auto kSmaller = [](auto a, auto b) { return a < b ? a : b; };
inline constexpr auto kShiftedLeft = [](auto a, Slot by) { return Slot(a) << by; };
inline constexpr auto kShiftedRight = [](auto a, Slot by) { return Slot(a >> by); };

// Whether both are small and not negative, b not zero: then 32-bit division does, which is much
// faster and is what most of index arithmetic is.
inline bool are_small(Slot a, Slot b) { return ((a | b) >> 32) == 0 && b != 0; }

inline constexpr auto kTruncDiv = []<typename T>(T a, T b) {
  if (are_small(Slot(a), Slot(b))) return Slot{static_cast<uint32_t>(a) / static_cast<uint32_t>(b)};
  if (b == 0) return poison_now.bits;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Slot{0} - Slot(a);
  return Slot(a / b);
};
inline constexpr auto kTruncMod = []<typename T>(T a, T b) {
  if (are_small(Slot(a), Slot(b))) return Slot{static_cast<uint32_t>(a) % static_cast<uint32_t>(b)};
  if (b == 0) return poison_now.bits;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Slot{0};
  return Slot(a % b);
};
inline constexpr auto kFloorDiv = []<typename T>(T a, T b) {
  const Slot cut = kTruncDiv(a, b);
  if (!std::is_signed_v<T> || b == 0 || (a ^ b) >= T{0}) return cut;
  return kTruncMod(a, b) != 0 ? cut - 1 : cut;
};
inline constexpr auto kFloorMod = []<typename T>(T a, T b) {
  const Slot rest = kTruncMod(a, b);
  if (!std::is_signed_v<T> || b == 0 || (a ^ b) >= T{0} || rest == 0) return rest;
  return rest + Slot(b);
};
inline constexpr auto kIntPower = []<typename T>(T a, T n) {
  if (n < T{0}) {
    if (a == T{0}) return poison_now.bits;
    if (a == T{1} || a == static_cast<T>(-1)) return (n & 1) != 0 ? Slot(a) : Slot{1};
    return Slot{0};
  }
  Slot result = 1;
  Slot base = Slot(a);
  for (Slot left = Slot(n); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= base;
    base *= base;
  }
  return result;
};
// Threefry-2x32, 20 rounds: x0, x1 is the counter, low word first; after every fourth round the
// next two of the three words of the key are added, and the number of the addition.
inline constexpr auto kThreefry = [](Slot counter, Slot key) {
  constexpr int kTurns[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const auto k0 = static_cast<uint32_t>(key);
  const auto k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1BD1'1BDA};
  uint32_t x0 = static_cast<uint32_t>(counter) + k0;
  uint32_t x1 = static_cast<uint32_t>(counter >> 32) + k1;
  for (uint32_t i = 0; i < 20; i++) {
    x0 += x1;
    x1 = std::rotl(x1, kTurns[i % 8]) ^ x0;
    if (i % 4 != 3) continue;
    const uint32_t added = i / 4 + 1;
    x0 += keys[added % 3];
    x1 += keys[(added + 1) % 3] + added;
  }
  return Slot{x1} << 32 | x0;
};

inline constexpr auto kLess = [](auto a, auto b) { return a < b; };
inline constexpr auto kEqual = [](auto a, auto b) { return a == b; };
inline constexpr auto kUnequal = [](auto a, auto b) { return a != b; };

// A double is exact for sums and products of narrower floats, or has more than twice their bits and
// two, so that rounding its result again is rounding once.
inline constexpr auto kFloatSum = [](double a, double b) { return a + b; };
inline constexpr auto kFloatDifference = [](double a, double b) { return a - b; };
inline constexpr auto kFloatProduct = [](double a, double b) { return a * b; };
inline constexpr auto kQuotient = [](double a, double b) { return a / b; };
inline constexpr auto kReciprocal = [](double a) { return 1 / a; };
inline constexpr auto kSqrt = [](double a) { return std::sqrt(a); };
inline constexpr auto kExp = [](double a) { return std::exp(a); };
inline constexpr auto kExp2 = [](double a) { return std::exp2(a); };
inline constexpr auto kLog = [](double a) { return std::log(a); };
inline constexpr auto kLog2 = [](double a) { return std::log2(a); };
inline constexpr auto kSin = [](double a) { return std::sin(a); };
inline constexpr auto kCos = [](double a) { return std::cos(a); };
inline constexpr auto kTan = [](double a) { return std::tan(a); };
inline constexpr auto kTrunc = [](double a) { return std::trunc(a); };
inline constexpr auto kFloor = [](double a) { return std::floor(a); };
inline constexpr auto kCeil = [](double a) { return std::ceil(a); };
inline constexpr auto kRound = [](double a) { return std::nearbyint(a); };
// Of zeros the signs decide: -0.0 is below 0.0.
inline constexpr auto kFloatLarger = [](double a, double b) {
  if (a == b) return number(slot(a) & slot(b));
  return a > b || std::isnan(a) ? a : b;
};
inline constexpr auto kFloatSmaller = [](double a, double b) {
  if (a == b) return number(slot(a) | slot(b));
  return a < b || std::isnan(a) ? a : b;
};
// The C library's pow does not take a signaling NaN for a number.
inline constexpr auto kPower = [](double a, double b) {
  return b == 0 || a == 1 ? 1.0 : std::pow(a, b);
};
// At f64.
inline constexpr auto kFma = [](double a, double b, double c) { return std::fma(a, b, c); };
// For narrower types: the product is exact, and the sum is rounded to odd, which leaves what a
// second rounding must know.
inline constexpr auto kOddFma = [](double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  if (error == 0 || (slot(sum) & 1) != 0) return sum;
  const bool away = (error > 0) == (sum > 0);
  return number(away ? slot(sum) + 1 : slot(sum) - 1);
};

}  // namespace assay::interpreter
