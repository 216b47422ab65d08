#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/uop/value.h"

namespace assay::uop {

// A sequence of numbers that its seed determines, the same with every compiler (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  // A number below n, which is not zero.
  uint64_t below(uint64_t n) { return static_cast<uint64_t>((UInt128{next()} * n) >> 64); }
  // One of the integers from lo to hi.
  Int128 between(Int128 lo, Int128 hi) {
    const auto width = static_cast<UInt128>(hi - lo) + 1;
    const UInt128 bits = (UInt128{next()} << 64) | next();
    return lo + static_cast<Int128>(bits % width);
  }
  // True once in n times.
  bool once_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

// An integer at type t, mostly where mistakes are: about zero, at the ends, about powers of two.
// Of type `index` mostly small.
inline Value any_int(Random& random, DType t) {
  const Int128 lo = min_int(t);
  const Int128 hi = max_int(t);
  const auto near = [&](Int128 x, int most) { return x + random.between(-most, most); };
  Int128 x = 0;
  switch (random.below(t == Index ? 24 : 8)) {
    case 0: x = near(lo, 2); break;
    case 1: x = near(hi, 2); break;
    case 2: x = near(Int128{1} << random.below(static_cast<uint64_t>(bits_of(t))), 1); break;
    case 3: x = random.between(lo, hi); break;
    case 4: x = near(0, 2); break;
    case 5: x = -(Int128{1} << random.below(static_cast<uint64_t>(bits_of(t)))); break;
    default: x = near(0, 40); break;
  }
  if (t == Index) return of_int(t, x < lo ? lo : (x > hi ? hi : x));
  return of_int(t, x);
}

// A float at type t: any bits, a small number, a power of two, or one of the special ones. A NaN is
// the one that arithmetic yields.
inline Value any_float(Random& random, DType t) {
  static constexpr double kSpecial[] = {0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, HUGE_VAL, -HUGE_VAL};
  Value v = {t, random.next() >> (64 - bits_of(t))};
  switch (random.below(6)) {
    case 0: v = of_double(t, kSpecial[random.below(9)]); break;
    case 1: v = of_int(t, random.between(-20, 20)); break;
    case 2:
      v = of_double(t, std::ldexp(random.once_in(2) ? 1.0 : -1.0, int(random.below(80)) - 40));
      break;
    case 3: v.bits = (uint64_t{random.once_in(2)} << (bits_of(t) - 1)) + random.below(3); break;
    case 4: v = random.once_in(2) ? highest(t) : lowest(t); break;
    default: break;
  }
  return is_nan(v) ? nan_of(t) : v;
}

inline Value any_value(Random& random, DType t) {
  if (t == Bool) return of_bool(random.once_in(2));
  return is_float(t) ? any_float(random, t) : any_int(random, t);
}

}  // namespace assay::uop
