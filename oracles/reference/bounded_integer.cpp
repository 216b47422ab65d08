#include <bit>

#include "oracles/reference/integers.h"
#include "oracles/reference/kernels.h"

namespace assay::reference {
namespace {

using uop::Int128;

Bounded neg(DType t, const Bounded& a, const Bounded&, const Bounded&) {
  return integer_result(t, -integer_of(t, a));
}
Bounded bit_not(DType t, const Bounded& a, const Bounded&, const Bounded&) {
  if (t == DType::Bool) return integer_result(t, a.integer == 0 ? 1 : 0);
  return integer_result(t, ~integer_of(t, a));
}
Bounded abs(DType t, const Bounded& a, const Bounded&, const Bounded&) {
  const Int128 x = integer_of(t, a);
  return integer_result(t, x < 0 ? -x : x);
}
Bounded sign(DType t, const Bounded& a, const Bounded&, const Bounded&) {
  const Int128 x = integer_of(t, a);
  return integer_result(t, (x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
}
Bounded square(DType t, const Bounded& a, const Bounded&, const Bounded&) {
  return integer_result(t, integer_of(t, a) * integer_of(t, a));
}

Bounded add(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  return integer_result(t, integer_of(t, a) + integer_of(t, b));
}
Bounded sub(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  return integer_result(t, integer_of(t, a) - integer_of(t, b));
}
Bounded mul(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  // Of u64 the product may not fit 127 bits; its low half is right all the same.
  if (t == DType::U64) {
    const uint64_t low = static_cast<uint64_t>(a.integer) * static_cast<uint64_t>(b.integer);
    return integer_result(t, low);
  }
  return integer_result(t, integer_of(t, a) * integer_of(t, b));
}
Bounded fma(DType t, const Bounded& a, const Bounded& b, const Bounded& c) {
  if (t == DType::Index) {
    return integer_result(t, integer_of(t, a) * integer_of(t, b) + integer_of(t, c));
  }
  return add(t, mul(t, a, b, c), c, c);
}

Bounded tdiv(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  if (b.integer == 0) return unspecified();
  return integer_result(t, integer_of(t, a) / integer_of(t, b));
}
Bounded tmod(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  if (b.integer == 0) return unspecified();
  return integer_result(t, integer_of(t, a) % integer_of(t, b));
}
Int128 floor_mod(Int128 x, Int128 y) {
  const Int128 rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
Bounded idiv(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  if (b.integer == 0) return unspecified();
  const Int128 x = integer_of(t, a);
  const Int128 y = integer_of(t, b);
  return integer_result(t, (x - floor_mod(x, y)) / y);
}
Bounded mod(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  if (b.integer == 0) return unspecified();
  return integer_result(t, floor_mod(integer_of(t, a), integer_of(t, b)));
}

Bounded max(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  return integer_of(t, a) < integer_of(t, b) ? b : a;
}
Bounded min(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  return integer_of(t, b) < integer_of(t, a) ? b : a;
}
Bounded bit_and(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  return integer_result(t, a.integer & b.integer);
}
Bounded bit_or(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  return integer_result(t, a.integer | b.integer);
}
Bounded bit_xor(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  return integer_result(t, a.integer ^ b.integer);
}

bool is_shift(DType t, const Bounded& amount) {
  const Int128 n = integer_of(t, amount);
  return n >= 0 && n < uop::bits_of(t);
}
Bounded shl(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  if (!is_shift(t, b)) return unspecified();
  if (t == DType::Index) return integer_result(t, integer_of(t, a) * (Int128{1} << b.integer));
  return integer_result(t, static_cast<int64_t>(static_cast<uint64_t>(a.integer) << b.integer));
}
Bounded shr(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  if (!is_shift(t, b)) return unspecified();
  return integer_result(t, integer_of(t, a) >> b.integer);
}

Bounded lt(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  return integer_result(DType::Bool, integer_of(t, a) < integer_of(t, b) ? 1 : 0);
}
Bounded eq(DType, const Bounded& a, const Bounded& b, const Bounded&) {
  return integer_result(DType::Bool, a.integer == b.integer ? 1 : 0);
}
Bounded ne(DType, const Bounded& a, const Bounded& b, const Bounded&) {
  return integer_result(DType::Bool, a.integer != b.integer ? 1 : 0);
}

// `index` has no width to wrap at: as soon as the power leaves it, it stays outside, unless the
// base is 0, 1 or -1.
Bounded index_power(Int128 base, Int128 exponent) {
  Int128 result = 1;
  for (Int128 i = 0; i < exponent; i++) {
    result *= base;
    if (result != static_cast<int64_t>(result)) return unspecified();
  }
  return integer_result(DType::Index, result);
}
Bounded pow(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  const Int128 base = integer_of(t, a);
  const Int128 exponent = integer_of(t, b);
  if (exponent < 0 && base == 0) return unspecified();
  const bool is_odd = (exponent & 1) != 0;
  if (base == 1) return integer_result(t, 1);
  if (base == -1) return integer_result(t, is_odd ? -1 : 1);
  if (exponent < 0) return integer_result(t, 0);
  if (base == 0) return integer_result(t, exponent == 0 ? 1 : 0);
  if (t == DType::Index) return index_power(base, exponent);
  uint64_t result = 1;
  auto factor = static_cast<uint64_t>(a.integer);
  for (auto n = static_cast<uint64_t>(exponent); n != 0; n >>= 1) {
    if ((n & 1) != 0) result *= factor;
    factor *= factor;
  }
  return integer_result(t, static_cast<int64_t>(result));
}

// Threefry-2x32 with 20 rounds, as its authors' paper states it ("Parallel random numbers: as easy
// as 1, 2, 3", 2011): the key is added before the first round and after each four.
Bounded threefry(DType t, const Bounded& a, const Bounded& b, const Bounded&) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const auto counter = static_cast<uint64_t>(a.integer);
  const auto seed = static_cast<uint64_t>(b.integer);
  const auto low = static_cast<uint32_t>(seed);
  const auto high = static_cast<uint32_t>(seed >> 32);
  const uint32_t key[3] = {low, high, low ^ high ^ 0x1BD11BDAU};
  uint32_t x = static_cast<uint32_t>(counter) + key[0];
  uint32_t y = static_cast<uint32_t>(counter >> 32) + key[1];
  for (uint32_t four = 1; four <= 5; four++) {
    for (const int rotation : kRotations[(four - 1) % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += key[four % 3];
    y += key[(four + 1) % 3] + four;
  }
  return integer_result(t, static_cast<int64_t>(uint64_t{y} << 32 | x));
}

}  // namespace

IntegerKernel integer_kernel(Fn fn) {
  switch (fn) {
    case Fn::Neg: return neg;
    case Fn::Not: return bit_not;
    case Fn::Abs: return abs;
    case Fn::Sign: return sign;
    case Fn::Square: return square;
    case Fn::Add: return add;
    case Fn::Sub: return sub;
    case Fn::Mul: return mul;
    case Fn::Fma: return fma;
    case Fn::IDiv: return idiv;
    case Fn::Mod: return mod;
    case Fn::TDiv: return tdiv;
    case Fn::TMod: return tmod;
    case Fn::Max: return max;
    case Fn::Min: return min;
    case Fn::And: return bit_and;
    case Fn::Or: return bit_or;
    case Fn::Xor: return bit_xor;
    case Fn::Shl: return shl;
    case Fn::Shr: return shr;
    case Fn::Lt: return lt;
    case Fn::Eq: return eq;
    case Fn::Ne: return ne;
    case Fn::Pow: return pow;
    case Fn::Threefry: return threefry;
    default: return nullptr;
  }
}

}  // namespace assay::reference
