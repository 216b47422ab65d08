#include "engine/tensor/program/random.h"

#include <algorithm>
#include <cmath>

#include "engine/uop/value.h"

namespace assay::tensor {
namespace {

using uop::DType;
using uop::Int128;
using uop::UInt128;
using uop::Value;

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

// SplitMix64's finalizer: every bit of the result depends on every bit of x.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t sign_bit(DType t) { return uint64_t{1} << (uop::bits_of(t) - 1); }

// The next number of a float type, away from zero or towards it; zero has two neighbours.
uint64_t below(DType t, uint64_t bits) {
  if ((bits & ~sign_bit(t)) == 0) return sign_bit(t) | 1;
  return (bits & sign_bit(t)) != 0 ? bits + 1 : bits - 1;
}
uint64_t above(DType t, uint64_t bits) { return below(t, bits ^ sign_bit(t)) ^ sign_bit(t); }

// The whole numbers that a type holds with none between them left out.
Int128 least_whole(DType t) {
  if (!uop::is_float(t)) return uop::min_int(t);
  return -(Int128{1} << (uop::format_of(t).mantissa_bits + 1));
}
Int128 most_whole(DType t) { return uop::is_float(t) ? -least_whole(t) : uop::max_int(t); }

}  // namespace

Random::Random(Distribution distribution, DType type, uint64_t seed, double low, double high,
               Int128 least, Int128 most)
    : distribution_(distribution), type_(type), low_(low), high_(high) {
  const auto kind = static_cast<uint64_t>(distribution) << 8 | static_cast<uint64_t>(type);
  key_ = mix(mix(seed + kGolden) ^ mix(kind + 1));
  least_ = std::clamp(least, least_whole(type), most_whole(type));
  span_ = static_cast<UInt128>(std::clamp(most, least_whole(type), most_whole(type)) - least_ + 1);
}

// The k-th of the numbers that element i is made of.
uint64_t Random::draw(uint64_t i, uint64_t k) const {
  return mix(mix(key_ + i * kGolden) + (k + 1) * kGolden);
}

uint64_t Random::bits(uint64_t i) const {
  switch (distribution_) {
    case Distribution::Uniform: return uniform(i);
    case Distribution::Normal: return normal(i);
    case Distribution::Integers: return integer(i);
    case Distribution::Nasty: break;
  }
  return uop::is_float(type_) ? nasty_float(i) : nasty_integer(i);
}

uint64_t Random::uniform(uint64_t i) const {
  const double part = static_cast<double>(draw(i, 0) >> 11) * 0x1p-53;
  const double exact = low_ * (1 - part) + high_ * part;
  const double x = std::clamp(exact, low_, std::nextafter(high_, low_));
  const Value nearest = uop::of_double(type_, x);
  if (!(uop::as_double(nearest) > x)) return nearest.bits;
  const uint64_t lower = below(type_, nearest.bits);
  return uop::as_double({type_, lower}) < low_ ? nearest.bits : lower;
}

uint64_t Random::normal(uint64_t i) const {
  uint64_t sum = 0;
  for (uint64_t k = 0; k < 4; k++) {
    const uint64_t word = draw(i, k);
    sum += (word & 0xfffff) + ((word >> 20) & 0xfffff) + ((word >> 40) & 0xfffff);
  }
  // Twelve numbers of 20 bits, each half a step more than it says.
  return uop::of_double(type_, (static_cast<double>(sum) + 6) * 0x1p-20 - 6).bits;
}

uint64_t Random::integer(uint64_t i) const {
  const auto offset = static_cast<UInt128>(draw(i, 0)) * span_ >> 64;
  return uop::of_int(type_, least_ + static_cast<Int128>(offset)).bits;
}

uint64_t Random::nasty_integer(uint64_t i) const {
  const uint64_t word = draw(i, 0);
  const Int128 power = Int128{1} << ((word >> 8) % static_cast<uint64_t>(uop::bits_of(type_)));
  const Int128 sign = (word >> 16) % 2 == 0 ? 1 : -1;
  const auto small = static_cast<Int128>((word >> 17) % 33) - 16;
  const Int128 numbers[] = {0,      1,         -1,        uop::min_int(type_),
                            power,  power - 1, power + 1, uop::max_int(type_),
                            -power, sign * 2,  sign * 3,  uop::min_int(type_) + 1,
                            small,  small,     small,     uop::max_int(type_) - 1};
  return uop::of_int(type_, uop::wrap(type_, numbers[word % 16])).bits;
}

uint64_t Random::nasty_float(uint64_t i) const {
  const uint64_t word = draw(i, 0);
  const uop::FloatFormat format = uop::format_of(type_);
  const uint64_t sign = (word >> 8) % 2 == 0 ? 0 : sign_bit(type_);
  const uint64_t one = uop::one_of(type_).bits;
  const uint64_t least_normal = uint64_t{1} << format.mantissa_bits;
  const uint64_t inf = uop::of_double(type_, HUGE_VAL).bits;  // NaN where there is none
  const int exponents = format.max_exponent() - format.min_exponent() + 1;
  const int exponent =
      format.min_exponent() + static_cast<int>((word >> 9) % static_cast<uint64_t>(exponents));
  const uint64_t power = uop::of_double(type_, std::ldexp(1.0, exponent)).bits;
  const double half = static_cast<double>((word >> 20) % 17) + 0.5;
  const double ordinary = static_cast<double>(draw(i, 1) >> 11) * 0x1p-51 - 2;
  const uint64_t magnitudes[] = {
      uop::nan_of(type_).bits,
      inf,
      0,                 // and -0.0
      1,                 // the least subnormal
      least_normal - 1,  // the largest subnormal
      least_normal,
      below(type_, inf),  // the largest number
      one,
      power,
      above(type_, one),
      below(type_, one),
      uop::of_double(type_, half).bits,
  };
  const uint64_t pick = (word >> 32) % 24;
  if (pick >= std::size(magnitudes)) return uop::of_double(type_, ordinary).bits;
  return pick == 0 ? magnitudes[0] : magnitudes[pick] ^ sign;
}

}  // namespace assay::tensor
