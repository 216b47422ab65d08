#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/check.h"
#include "engine/uop/dtype.h"

namespace assay::interpreter {

using uop::DType;
using uop::Kind;

// One scalar while it is computed with. Integers are sign- or zero-extended to 64 bits, bool is 0
// or 1, and a float of any type is the double of the same value; a NaN keeps its sign and has its
// payload at the top of the double's, so that what is only moved keeps all its bits.
using Slot = uint64_t;

inline double number(Slot s) { return std::bit_cast<double>(s); }
inline Slot slot(double x) { return std::bit_cast<Slot>(x); }

inline constexpr Slot kSign = Slot{1} << 63;
inline constexpr Slot kInfinity = Slot{0x7FF} << 52;
inline constexpr Slot kNan = Slot{0x7FF8} << 48;  // the default NaN of every type

// What stands where there is no value: the bits of integers, which are the same in each byte, and
// the float. The usual ones are the odd value of a pattern and NaN; poison.h puts others there.
struct Poison {
  Slot bits;
  Slot number;
};
inline constexpr Poison kUsualPoison = {0xA5A5'A5A5'A5A5'A5A5, kNan};
inline thread_local constinit Poison poison_now = kUsualPoison;

constexpr bool is_signed(DType t) { return uop::kind_of(t) == Kind::Signed || t == DType::Index; }

// The lowest bits of a slot as an integer (or bool) of this type holds them.
constexpr Slot wrapped(Slot s, DType t) {
  const int unused = 64 - uop::bits_of(t);
  if (is_signed(t)) return static_cast<Slot>(static_cast<int64_t>(s << unused) >> unused);
  return s << unused >> unused;
}

inline Slot poison(DType t) {
  return uop::is_float(t) ? poison_now.number : wrapped(poison_now.bits, t);
}

// How values of a type lie in memory: Raw, to and from slots. For floats also round(): the double
// nearest to x that the type has, ties to even, and the default NaN for every NaN.
template <typename R, bool is_signed>
struct IntCodec {
  using Raw = R;
  static Slot decode(Raw raw) {
    if constexpr (is_signed) return static_cast<Slot>(static_cast<int64_t>(raw));
    return raw;
  }
  static Raw encode(Slot s) { return static_cast<Raw>(s); }
};

struct BoolCodec {
  using Raw = uint8_t;
  static Slot decode(Raw raw) { return raw != 0 ? 1 : 0; }
  static Raw encode(Slot s) { return s != 0 ? 1 : 0; }
};

struct DoubleCodec {
  using Raw = uint64_t;
  static Slot decode(Raw raw) { return raw; }
  static Raw encode(Slot s) { return s; }
  static Slot round(double x) { return std::isnan(x) ? kNan : slot(x); }
};

struct SingleCodec {
  using Raw = uint32_t;
  static Slot decode(Raw raw) {
    const auto x = std::bit_cast<float>(raw);
    if (!std::isnan(x)) return slot(double{x});
    return Slot{raw >> 31} << 63 | kInfinity | Slot{raw & 0x7F'FFFF} << 29;
  }
  static Raw encode(Slot s) {
    const double x = number(s);
    if (!std::isnan(x)) return std::bit_cast<uint32_t>(static_cast<float>(x));
    const auto payload = static_cast<uint32_t>(s >> 29) & 0x7F'FFFF;
    return static_cast<uint32_t>(s >> 63) << 31 | 0x7F80'0000 |
           (payload != 0 ? payload : 0x40'0000);
  }
  static Slot round(double x) { return std::isnan(x) ? kNan : slot(double{static_cast<float>(x)}); }
};

// A float of at most 16 bits: E bits of exponent and M of mantissa, without infinities and with
// one NaN (of either sign) where has_infinity is false.
template <typename R, int E, int M, bool has_infinity>
struct SmallCodec {
  using Raw = R;
  static constexpr int kBias = (1 << (E - 1)) - 1;
  static constexpr int kLeastExponent = 1 - kBias;
  static constexpr int kMostExponent = has_infinity ? kBias : kBias + 1;
  static constexpr unsigned kMantissa = (1U << M) - 1;
  static constexpr unsigned kExponents = ((1U << E) - 1) << M;
  static constexpr unsigned kMagnitude = kExponents | kMantissa;
  // Without infinity the largest has one mantissa less: that is the NaN's.
  static constexpr double kMost = double{(2U << M) - (has_infinity ? 1 : 2)} *
                                  std::bit_cast<double>(Slot(1023 + kMostExponent - M) << 52);
  // Between doubles and numbers whose exponents are read at another bias.
  static constexpr double kUp = std::bit_cast<double>(Slot(1023 + 1023 - kBias) << 52);
  static constexpr double kDown = std::bit_cast<double>(Slot(1023 - 1023 + kBias) << 52);

  static Slot decode(Raw raw) {
    const Slot sign = Slot{raw} >> (E + M) << 63;
    const Slot magnitude = raw & kMagnitude;
    if constexpr (has_infinity) {
      if (magnitude >= kExponents) return sign | kInfinity | (magnitude & kMantissa) << (52 - M);
    } else {
      if (magnitude == kMagnitude) return sign | kNan;
    }
    // The exponent is read as a double's, subnormals too, and then put right, exactly.
    return sign | slot(number(magnitude << (52 - M)) * kUp);
  }
  static Raw encode(Slot s) {
    const Slot sign = s >> 63 << (E + M);
    const Slot magnitude = s & ~kSign;
    if (magnitude > kInfinity) {
      const Slot payload = magnitude >> (52 - M) & kMantissa;
      if (!has_infinity) return static_cast<Raw>(sign | kMagnitude);
      return static_cast<Raw>(sign | kExponents | (payload != 0 ? payload : Slot{1} << (M - 1)));
    }
    if (magnitude == kInfinity) return static_cast<Raw>(sign | kExponents);
    return static_cast<Raw>(sign | slot(number(magnitude) * kDown) >> (52 - M));
  }
  static Slot round(double x) {
    const Slot bits = slot(x);
    const Slot sign = bits & kSign;
    const Slot magnitude = bits & ~kSign;
    Slot exponent = magnitude >> 52;
    if (exponent < Slot(1023 + kLeastExponent)) exponent = Slot(1023 + kLeastExponent);
    if (exponent > Slot(1023 + kMostExponent + 1)) exponent = Slot(1023 + kMostExponent + 1);
    // The doubles from `grid` on lie as far apart as numbers of this type do about x.
    const double grid = number((exponent + 52 - M) << 52);
    const double rounded = (number(magnitude) + grid) - grid;
    if (rounded <= kMost) return sign | slot(rounded);
    return std::isnan(x) || !has_infinity ? kNan : sign | kInfinity;
  }
};

using E4M3Codec = SmallCodec<uint8_t, 4, 3, false>;
using E5M2Codec = SmallCodec<uint8_t, 5, 2, true>;
using HalfCodec = SmallCodec<uint16_t, 5, 10, true>;
using BrainCodec = SmallCodec<uint16_t, 8, 7, true>;

// f(codec) for the codec of a float type.
template <typename F>
auto with_float_codec(DType t, F f) {
  switch (t) {
    case DType::E4M3: return f(E4M3Codec());
    case DType::E5M2: return f(E5M2Codec());
    case DType::F16: return f(HalfCodec());
    case DType::BF16: return f(BrainCodec());
    case DType::F32: return f(SingleCodec());
    case DType::F64: return f(DoubleCodec());
    default: ASSAY_CHECK(false, "{} is no float", uop::to_text(t));
  }
}

// f(codec) for the codec of any type but void.
template <typename F>
auto with_codec(DType t, F f) {
  switch (t) {
    case DType::Bool: return f(BoolCodec());
    case DType::Index: return f(IntCodec<int64_t, true>());
    case DType::I8: return f(IntCodec<int8_t, true>());
    case DType::U8: return f(IntCodec<uint8_t, false>());
    case DType::I16: return f(IntCodec<int16_t, true>());
    case DType::U16: return f(IntCodec<uint16_t, false>());
    case DType::I32: return f(IntCodec<int32_t, true>());
    case DType::U32: return f(IntCodec<uint32_t, false>());
    case DType::I64: return f(IntCodec<int64_t, true>());
    case DType::U64: return f(IntCodec<uint64_t, false>());
    default: return with_float_codec(t, f);
  }
}

template <typename Codec>
Slot load(const std::byte* from, int64_t i) {
  typename Codec::Raw raw;
  std::memcpy(&raw, from + i * int64_t{sizeof(raw)}, sizeof(raw));
  return Codec::decode(raw);
}
template <typename Codec>
void store(std::byte* to, int64_t i, Slot s) {
  const typename Codec::Raw raw = Codec::encode(s);
  std::memcpy(to + i * int64_t{sizeof(raw)}, &raw, sizeof(raw));
}

// Bytes to slots and back, n of them.
void decode(DType t, const std::byte* from, Slot* to, int64_t n);
void encode(DType t, const Slot* from, std::byte* to, int64_t n);

// Fills memory with the poison of a type.
void fill_poison(DType t, std::byte* to, int64_t n);

}  // namespace assay::interpreter
