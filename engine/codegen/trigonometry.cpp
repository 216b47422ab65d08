// sin, cos and tan: a multiple of pi/2 is taken off, and polynomials do the rest. Moderate
// arguments by Cody and Waite ("Software Manual for the Elementary Functions", 1980), large ones by
// Payne and Hanek ("Radian reduction for trigonometric functions", 1983), which multiplies the
// argument's bits by those bits of 2/pi that matter.
#include <cmath>
#include <limits>
#include <vector>

#include "engine/codegen/transcendental_parts.h"
#include "engine/uop/bounds.h"

namespace assay::codegen {
namespace {

using uop::F32;
using uop::I64;
using uop::Op;
using uop::U32;
using uop::U64;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

struct AngleConstants {
  double limit;                 // below it, the moderate way
  double own_tangent;           // below it, x^2 / 3 is a sixth of a unit in the last place at most
  double parts[3];              // pi/2
  int words;                    // of 2/pi that an argument's bits are multiplied by
  int index_bits;               // of the first word's place in kBits
  std::span<const double> sin;  // (sin(r) - r) / r^3 in powers of r^2, |r| <= 0.79
  std::span<const double> cos;  // (cos(r) - 1 + r^2 / 2) / r^4
};

// sin and cos are off by less than 2^-32 and 2^-62.
constexpr double kSinF32[] = {-0x1.555556p-3, 0x1.111164p-7, -0x1.a04824p-13, 0x1.77c182p-19};
constexpr double kCosF32[] = {0x1.55554ap-5, -0x1.6c0c1ep-10, 0x1.99e334p-16};
constexpr double kSinF64[] = {
    -0x1.5555555555555p-3,  0x1.111111111108dp-7,  -0x1.a01a01a0075e1p-13, 0x1.71de3a40e5741p-19,
    -0x1.ae643e673560cp-26, 0x1.61156ae12eddap-33, -0x1.a5c27fb4b06a6p-41,
};
constexpr double kCosF64[] = {
    0x1.555555555554ap-5,   -0x1.6c16c16c14df7p-10, 0x1.a01a019c5abd9p-16,
    -0x1.27e4f7cbccee6p-22, 0x1.1ee9c217a6ea6p-29,  -0x1.8f99257515d56p-37,
};

const AngleConstants& angle_constants(uop::DType t) {
  static constexpr AngleConstants kF32 = {
      0x1p16, 0x1p-13, {0x1.921fb6p0, -0x1.777a5cp-25, -0x1.ee59dap-50}, 3, 3, kSinF32, kCosF32};
  static constexpr AngleConstants kF64 = {
      0x1p23,  0x1p-27, {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}, 6, 5,
      kSinF64, kCosF64};
  return t == F32 ? kF32 : kF64;
}

// 32 zeros, then the first 1248 bits of 2/pi.
constexpr uint32_t kBits[] = {
    0,          0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB,
    0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5,
    0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF,
    0xDE05980F, 0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7,
    0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20,
};

// x = quadrant * pi/2 + r, |r| <= pi/4 and a little; of quadrant (signed, as wide as x) only the
// last two bits are right.
struct Reduced {
  Term r;
  Term quadrant;
};

// For |x| below the limit. The first step is exact; what the others round is less than a unit in
// the last place of r, since no such x comes closer to a multiple of pi/2 than 2^-30 (2^-62).
Reduced moderate(Term x) {
  const AngleConstants& c = angle_constants(x.type());
  const Whole k = nearest(x, kTwoOverPi);
  Term r = x;
  for (const double part : c.parts) r = fma(k.number, -part, r);
  return {r, k.integer};
}

Term low_half(Term x) { return x & 0xFFFFFFFF; }

// `count` words of kBits from the place of a word, which is a number of index_bits: half of what is
// left is chosen by each bit.
std::vector<Term> words_from(Term place, int index_bits, size_t count) {
  std::vector<Term> words;
  for (const uint32_t w : kBits) words.push_back(place.integer(U64, w));
  for (int bit = index_bits - 1; bit >= 0; bit--) {
    const size_t step = size_t{1} << bit;
    const Term upper = (place & static_cast<double>(step)) != 0;
    std::vector<Term> left;
    for (size_t i = 0; i < step + count - 1 && i < words.size(); i++) {
      left.push_back(i + step < words.size() ? where(upper, words[i + step], words[i]) : words[i]);
    }
    words = std::move(left);
  }
  return words;
}

// The leading two words of (limbs * words) / 2^(32 * words), modulo 1, as u64s of 64 bits each; the
// words after them only carry. Limbs are below 2^32, the first the lowest; words are the highest
// first.
std::vector<Term> fraction(std::span<const Term> limbs, std::span<const Term> words) {
  const size_t n = words.size();
  const size_t places = 2 * limbs.size() < n ? 2 * limbs.size() + 1 : n;
  std::vector<Term> result;
  Term carry = words[0].integer(0);
  for (size_t j = places; j-- > 0;) {
    Term sum = carry;
    for (size_t l = 0; l < limbs.size(); l++) {
      if (j + l < n) sum = sum + low_half(limbs[l] * words[j + l]);
      if (j + l + 1 < n) sum = sum + ((limbs[l] * words[j + l + 1]) >> 32);
    }
    carry = sum >> 32;
    result.insert(result.begin(), low_half(sum));
  }
  return result;
}

Term joined(Term high, Term low) { return (high << 32) | low; }

// x / (pi/2) modulo 4, in units of 2^-62 and, where there are two, 2^-126.
std::vector<Term> turns(Term x) {
  const Format f = format(x.type());
  const AngleConstants& c = angle_constants(x.type());
  const Term bits = cast(bits_as(x, unsigned_of(x.type())), U64);
  const Term magnitude = bits & bits.integer(static_cast<int64_t>(uop::max_int(signed_of(f.t))));
  const Term exponent = magnitude >> f.mantissa_bits;
  // x is m * 2^(exponent - bias - mantissa bits); the bits of 2/pi that count for less than 4 begin
  // at 30 plus that.
  const Term first = cast(exponent - (f.bias + f.mantissa_bits - 30), U32);
  const Term place = (first >> 5) & ((1 << c.index_bits) - 1);
  const std::vector<Term> raw = words_from(place, c.index_bits, static_cast<size_t>(c.words) + 1);
  const Term shift = cast(first & 31, U64);
  std::vector<Term> words;
  words.reserve(static_cast<size_t>(c.words));
  for (int i = 0; i < c.words; i++) {
    words.push_back(low_half((joined(raw[i], raw[i + 1]) << shift) >> 32));
  }
  const Term unit = bits.integer(int64_t{1} << f.mantissa_bits);
  const Term mantissa = (bits & (static_cast<double>((int64_t{1} << f.mantissa_bits) - 1))) | unit;
  std::vector<Term> limbs = {low_half(mantissa)};
  if (f.mantissa_bits >= 32) limbs.push_back(mantissa >> 32);
  const std::vector<Term> q = fraction(limbs, words);
  std::vector<Term> result = {joined(q[0], q[1])};
  if (limbs.size() > 1) result.push_back(joined(q[2], q[3]));
  return result;
}

// For |x| at the limit or above, and finite.
Reduced large(Term x) {
  const uop::DType t = x.type();
  const AngleConstants& c = angle_constants(t);
  const std::vector<Term> q = turns(x);
  const Term half = q[0].integer(int64_t{1} << 61);
  const Term raised = q[0] + half;
  const Term mask = q[0].integer((int64_t{1} << 62) - 1);
  const Term left = cast(raised & mask, I64) - static_cast<double>(int64_t{1} << 61);
  const Term turn = cast(left, t);
  const Term lost = left - cast(turn, I64);
  Term rest = cast(lost, t);
  if (q.size() > 1) rest = fma(cast(q[1], t), 0x1p-64, rest);
  const double hi = c.parts[0] * 0x1p-62;
  const double lo = c.parts[1] * 0x1p-62;
  const Term r = fma(turn, hi, fma(turn, lo, rest * hi));
  const Term quadrant = cast(raised >> 62, signed_of(t));
  const Term negative = x < 0;
  return {where(negative, -r, r), where(negative, -quadrant, quadrant)};
}

Term absolute(Term x) {
  const uop::DType i = signed_of(x.type());
  const Term bits = bits_as(x, i);
  return bits_as(bits & bits.integer(static_cast<int64_t>(uop::max_int(i))), x.type());
}

Reduced reduced(Term x) {
  const double limit = angle_constants(x.type()).limit;
  const uop::FloatBounds b = uop::float_bounds(*x.g, x.u);
  const Reduced small = moderate(x);
  if (-limit < b.lo && b.hi < limit) return small;
  const Reduced big = large(x);
  const Term is_small = absolute(x) < limit;
  const Term r = where(is_small, small.r, big.r);
  return {r, where(is_small, small.quadrant, big.quadrant)};
}

// sin and cos of |r| <= pi/4.
Pair sin_cos(Term r) {
  const AngleConstants& c = angle_constants(r.type());
  const Term z = r * r;
  const Term s = polynomial(z, c.sin);
  const Term cube = r * z;
  const Term sine = fma(cube, s, r);
  const Term tail = polynomial(z, c.cos);
  const Term square = z * z;
  const Term head = fma(z, -0.5, z.number(1));
  const Term lost = fma(z, -0.5, 1 - head);
  return {sine, fma(square, tail, lost) + head};
}

// What is no number at infinities and NaN.
Term finite(Term x, Term value) {
  const Term none = x - x;
  return where(absolute(x) < kInf, value, none);
}

Term sin_at(Term x, Term r, Term quadrant) {
  const Pair p = sin_cos(r);
  const uop::DType i = signed_of(x.type());
  const Term odd = (quadrant & 1) != 0;
  const Term value = where(odd, p.lo, p.hi);
  const Term sign = (quadrant & 2) << (uop::bits_of(i) - 2);
  return finite(x, bits_as(bits_as(value, i) ^ sign, x.type()));
}

}  // namespace

Term sin(Term x) {
  const Reduced a = reduced(x);
  const Term value = sin_at(x, a.r, a.quadrant);
  return where(x == 0, x, value);
}

Term cos(Term x) {
  const Reduced a = reduced(x);
  return sin_at(x, a.r, a.quadrant + 1);
}

Term tan(Term x) {
  const Reduced a = reduced(x);
  const Pair p = sin_cos(a.r);
  const Term odd = (a.quadrant & 1) != 0;
  const Term above = where(odd, p.lo, p.hi);
  const Term below = where(odd, -p.hi, p.lo);
  const Term inverse = below.make(Op::Recip);
  const Term rough = above * inverse;
  // What the quotient lacks, so that it is right however roughly the device divides.
  const Term lacks = fma(-rough, below, above);
  const Term value = finite(x, fma(lacks, inverse, rough));
  // Small arguments are their own tangents, and what they lack may be subnormal.
  const Term is_small = absolute(x) < angle_constants(x.type()).own_tangent;
  return where(is_small, x, value);
}

}  // namespace assay::codegen
