#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::uop {

enum class DType : uint8_t {
#define DTYPE(name, text, kind, bits) name,
#include "engine/uop/dtype.def"
#undef DTYPE
};

#define DTYPE(name, text, kind, bits) +1
inline constexpr int kDTypeCount = 0
#include "engine/uop/dtype.def"
    ;
#undef DTYPE

enum class Kind : uint8_t { Void, Bool, Index, Signed, Unsigned, Float };

// The integers in which bounds and folding are exact: wide enough for any sum or product of two
// 64-bit values.
__extension__ typedef __int128 Int128;            // NOLINT(modernize-use-using)
__extension__ typedef unsigned __int128 UInt128;  // NOLINT(modernize-use-using)

namespace detail {
inline constexpr Kind kKinds[] = {
#define DTYPE(name, text, kind, bits) Kind::kind,
#include "engine/uop/dtype.def"
#undef DTYPE
};
inline constexpr uint8_t kBits[] = {
#define DTYPE(name, text, kind, bits) bits,
#include "engine/uop/dtype.def"
#undef DTYPE
};
}  // namespace detail

constexpr Kind kind_of(DType t) { return detail::kKinds[static_cast<int>(t)]; }
constexpr int bits_of(DType t) { return detail::kBits[static_cast<int>(t)]; }
constexpr int bytes_of(DType t) { return (bits_of(t) + 7) / 8; }
// The unsigned and the signed integer as wide as t, which has 8, 16, 32 or 64 bits.
constexpr DType unsigned_of(DType t) {
  switch (bits_of(t)) {
    case 8: return DType::U8;
    case 16: return DType::U16;
    case 32: return DType::U32;
    default: return DType::U64;
  }
}
constexpr DType signed_of(DType t) {
  switch (bits_of(t)) {
    case 8: return DType::I8;
    case 16: return DType::I16;
    case 32: return DType::I32;
    default: return DType::I64;
  }
}
constexpr bool is_float(DType t) { return kind_of(t) == Kind::Float; }
// Integers of fixed width, which wrap.
constexpr bool is_fixed_int(DType t) {
  return kind_of(t) == Kind::Signed || kind_of(t) == Kind::Unsigned;
}
constexpr bool is_int(DType t) { return is_fixed_int(t) || t == DType::Index; }
constexpr bool is_unsigned(DType t) { return kind_of(t) == Kind::Unsigned || t == DType::Bool; }

std::string_view to_text(DType t);
std::optional<DType> dtype_from_text(std::string_view text);

// A set of types.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<DType> types) {
    for (DType t : types) mask_ |= bit(t);
  }

  constexpr bool has(DType t) const { return (mask_ & bit(t)) != 0; }
  constexpr bool empty() const { return mask_ == 0; }
  constexpr TypeSet operator|(TypeSet o) const { return TypeSet(mask_ | o.mask_); }
  constexpr TypeSet operator&(TypeSet o) const { return TypeSet(mask_ & o.mask_); }
  constexpr bool operator==(const TypeSet&) const = default;

 private:
  explicit constexpr TypeSet(uint32_t mask) : mask_(mask) {}
  static constexpr uint32_t bit(DType t) { return uint32_t{1} << static_cast<int>(t); }
  uint32_t mask_ = 0;
};

using enum DType;
inline constexpr TypeSet kBool = {Bool};
inline constexpr TypeSet kIndex = {Index};
inline constexpr TypeSet kSigned = {I8, I16, I32, I64};
inline constexpr TypeSet kUnsigned = {U8, U16, U32, U64};
inline constexpr TypeSet kFixedInts = kSigned | kUnsigned;
inline constexpr TypeSet kInts = kFixedInts | kIndex;
inline constexpr TypeSet kFloats = {E4M3, E5M2, F16, BF16, F32, F64};
inline constexpr TypeSet kNumbers = kInts | kFloats;
inline constexpr TypeSet kLogic = kInts | kBool;
inline constexpr TypeSet kScalars = kNumbers | kBool;
inline constexpr TypeSet kAny = kScalars | TypeSet{Void};

// "i8 i16 …", or the name of the set where it has one.
std::string to_text(TypeSet types);

// Smallest and largest value of bool and the integers. `index` has no smallest; what is given are
// the ends of what its constants can hold.
constexpr Int128 min_int(DType t) {
  const bool is_signed = kind_of(t) == Kind::Signed || t == Index;
  return is_signed ? -(Int128{1} << (bits_of(t) - 1)) : Int128{0};
}
constexpr Int128 max_int(DType t) {
  const bool is_signed = kind_of(t) == Kind::Signed || t == Index;
  return (Int128{1} << (bits_of(t) - (is_signed ? 1 : 0))) - 1;
}
constexpr bool fits(DType t, Int128 value) {
  if (t == Index) return value == static_cast<int64_t>(value);
  return min_int(t) <= value && value <= max_int(t);
}

// Reduces an exact integer to its value at the width of t: modulo 2^bits, into the range of t.
// t is bool (lowest bit) or an integer; for `index` the value must fit and is returned as it is.
constexpr Int128 wrap(DType t, Int128 value) {
  if (t == Index) return value;
  const UInt128 modulus = UInt128{1} << bits_of(t);
  const UInt128 low = static_cast<UInt128>(value) & (modulus - 1);
  const bool negative = kind_of(t) == Kind::Signed && (low >> (bits_of(t) - 1)) != 0;
  return static_cast<Int128>(negative ? low - modulus : low);
}

// The least type that both can be promoted to (the lattice stands in README.md), or nothing: void
// joins with nothing but itself, and `index` with bool and itself only, since no width holds it.
std::optional<DType> promote(DType a, DType b);

// Whether every value of `from` is a value of `to`. `index` takes all widths but u64, whose upper
// half its constants do not hold, and no other type takes `index`.
bool is_lossless(DType from, DType to);

// How the bits of a float type are laid out: sign, exponent, mantissa, from the top.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // e4m3 (OCP "fn") has none: its one NaN is all ones below the sign

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  // The exponent of the largest finite value's first bit: without infinity, the top code is a
  // number.
  constexpr int max_exponent() const { return has_infinity ? bias() : bias() + 1; }
  // The exponent of the smallest subnormal.
  constexpr int min_exponent() const { return 1 - bias() - mantissa_bits; }
};

// t is a float type.
constexpr FloatFormat format_of(DType t) {
  if (t == E4M3) return {4, 3, false};
  if (t == E5M2) return {5, 2, true};
  if (t == F16) return {5, 10, true};
  if (t == BF16) return {8, 7, true};
  if (t == F32) return {8, 23, true};
  return {11, 52, true};
}

}  // namespace assay::uop
