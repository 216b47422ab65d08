#include "oracles/reference/fold.h"

#include <cmath>

#include "oracles/reference/kernels.h"
#include "oracles/reference/settle.h"

namespace assay::reference {
namespace {

// The exponent of the lowest bit that is set in x, which is finite and not 0.
int lowest_bit_of(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t fraction = bits & 0xfffffffffffff;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0) return std::countr_zero(fraction) - 1074;
  return std::countr_zero(fraction | uint64_t{1} << 52) + exponent - 1075;
}

// Logarithms are compared up to this.
constexpr double kMargin = 1e-6;

double highest_magnitude(const Bounded& x) {
  return (std::fabs(x.value) + std::fabs(x.low) + x.bound) * kSlack;
}

}  // namespace

bool Strange::take(const Bounded& x) {
  unspecified |= x.certainty == Certainty::Unspecified;
  ambiguous |= x.certainty == Certainty::Ambiguous;
  if (!x.is_known()) return true;
  if (is_finite(x)) return false;
  nan |= is_nan(x);
  if (!is_inf(x)) return true;
  infinite[is_negative(x) ? 1 : 0] = true;
  loose_infinity |= x.loose_infinity;
  return true;
}

void Sum::take(const Bounded& x) {
  if (strange_.take(x)) return;
  if (is_zero(x)) {
    zeros_++;
    positive_zero_ |= !is_negative(x) && !x.loose_zero;
    return;
  }
  add_finite(opened(f_, x));
}

void Sum::add_finite(const Bounded& x) {
  count_++;
  last_ = x;
  if (f_.dtype == DType::F64) {
    total_ = reference::add(total_, pair_of(x));
  } else {
    const Pair sum = two_sum(total_.hi, x.value);
    total_ = {sum.hi, total_.lo + sum.lo};
  }
  if (x.is_exact()) {
    (x.value > 0 ? positive_ : negative_) += std::fabs(x.value);
    lowest_bit_ = std::min(lowest_bit_, lowest_bit_of(x.value));
    nonnegative_ &= x.value > 0;
    return;
  }
  exact_ = false;
  spread_ += x.bound;
  nonnegative_ &= !may_be_negative(x);
  positive_ += std::max(0.0, x.value + x.bound);
  negative_ += std::max(0.0, x.bound - x.value);
}

void Sum::take_product(const Bounded& a, const Bounded& b) {
  if (a.is_known() && b.is_known()) {
    take(multiply_floats(f_, opened(f_, a), opened(f_, b)));
    return;
  }
  strange_.take(a);
  strange_.take(b);
}

Bounded Sum::strange_result() const {
  if (strange_.unspecified) return unspecified();
  if (strange_.ambiguous) return ambiguous();
  if (strange_.nan) return nan();
  if (strange_.infinite[0] && strange_.infinite[1]) {
    return strange_.loose_infinity ? ambiguous() : nan();
  }
  // The finite ones may add up to an infinity of the other sign before they meet this one.
  const bool negative = strange_.infinite[1];
  const double opposite = negative ? positive_ : negative_;
  if (opposite * (1 + static_cast<double>(count_) * f_.epsilon) >= f_.overflow) return ambiguous();
  return exact(negative ? -kInfinity : kInfinity);
}

// Added to zero, a negative zero is a positive one; by itself it stays.
Bounded Sum::only_zeros() const {
  return zeros_ == 0 || positive_zero_ ? zero(false) : loose_zero();
}

// Partial sums that are subnormal may be flushed: where elements cancel, and not all are multiples
// of a unit that is normal. Elements of one sign that are small themselves are open down to zero.
bool Sum::may_flush() const {
  const bool cancels = positive_ > 0 && negative_ > 0;
  return f_.flush > 0 && cancels && (!exact_ || lowest_bit_ < std::ilogb(f_.flush));
}

Bounded Sum::result() const {
  if (strange_.any()) return strange_result();
  if (count_ == 0) return only_zeros();
  if (count_ == 1) return last_;
  const Pair total = fast_two_sum(total_.hi, total_.lo);
  if (exact_ && count_ == 2) return rounded(f_, total);
  const double size = positive_ + negative_;
  const bool is_exact =
      exact_ && size <= std::ldexp(1, f_.precision + lowest_bit_) && size <= f_.largest;
  if (is_exact && !may_flush()) return exact(total.hi + 0.0);
  // n - 1 additions are off by (n - 1) u of the sum of magnitudes, in any order (Jeannerod and
  // Rump, 2013), and each by half a unit of the largest partial sum.
  const double n = static_cast<double>(count_);
  const double relative = (n - 1) * (f_.epsilon / 2) * size;
  const double partial = (std::max(positive_, negative_) + relative) * (1 + n * 0x1p-51);
  double rounding = is_exact ? 0 : std::min(relative, (n - 1) * 0.5 * ulp(f_, partial));
  if (may_flush()) rounding += (n - 2) * f_.flush;  // the last of them is seen to below
  const double own = size * (f_.dtype == DType::F64 ? n * kPairError : 0x1p-60);
  const double spread = (spread_ + rounding + own) * (1 + n * 0x1p-51);
  if (!(partial + rounding < f_.overflow)) {
    const double other = std::min(positive_, negative_) + relative;
    const bool is_certain = std::fabs(total.hi) - spread * kSlack >= f_.overflow;
    return is_certain && other < f_.overflow / 2 ? overflowed(f_, total.hi < 0) : ambiguous();
  }
  Bounded r = within(f_, total, spread, 0);
  r.nonnegative = nonnegative_;
  return r;
}

void Product::Scaled::multiply(double x) {
  int step = 0;
  mantissa = std::frexp(mantissa * x, &step);
  exponent += step;
}
double Product::Scaled::value() const {
  return std::ldexp(mantissa, static_cast<int>(std::clamp<int64_t>(exponent, -5000, 5000)));
}
double Product::Scaled::log2() const { return std::log2(mantissa) + static_cast<double>(exponent); }

void Product::take(const Bounded& element) {
  const Bounded x = opened(f_, element);
  if (x.is_known() && !is_nan(x)) {
    has_sign_ &= has_sign(x);
    negative_ ^= is_negative(x);
  }
  if (strange_.take(x)) return;
  if (is_zero(x)) {
    zero_ = true;
    return;
  }
  nonnegative_ &= !may_be_negative(x);
  if (x.is_exact() && std::fabs(x.value) == 1) return;
  count_++;
  last_ = x;
  // Scaled before it is multiplied: among the least numbers a product would lose bits.
  int scale = 0;
  int step = 0;
  const double hi = std::frexp(x.value, &scale);
  const Pair product = reference::multiply(mantissa_, {hi, std::ldexp(x.low, -scale)});
  mantissa_.hi = std::frexp(product.hi, &step);
  mantissa_.lo = std::ldexp(product.lo, -step);
  exponent_ += scale + step;
  const double most = highest_magnitude(x);
  const double least = std::max(0.0, std::fabs(x.value) - x.bound * kSlack) * (2 - kSlack);
  most_.multiply(most);
  if (most > 1) largest_.multiply(most);
  if (least < 1) smallest_.multiply(least);
  bounded_ |= !x.is_exact();
  exact_ &= x.is_exact() && odd_ < 0x1p60;
  if (!exact_) return;
  const int bit = lowest_bit_of(x.value);
  odd_ *= std::ldexp(std::fabs(x.value), -bit);
  lowest_bit_ += std::min(0, bit);
}

// Products of an infinity, or of a zero.
Bounded Product::special_result() const {
  if (strange_.unspecified) return unspecified();
  if (strange_.ambiguous) return ambiguous();
  const bool is_infinite = strange_.infinite[0] || strange_.infinite[1];
  if (strange_.nan || (is_infinite && zero_)) return nan();
  // The rest may come to the other of zero and infinity first.
  if (is_infinite) {
    const double least = std::max(std::log2(f_.tiny) - 1, std::log2(f_.flush));
    const bool may_vanish = !has_sign_ || smallest_.log2() < least + kMargin;
    return may_vanish ? ambiguous() : exact(negative_ ? -kInfinity : kInfinity);
  }
  if (largest_.log2() > std::log2(f_.largest) - kMargin) return ambiguous();
  const bool has_sign = has_sign_ && smallest_.log2() >= std::log2(f_.flush);
  return has_sign ? zero(negative_) : loose_zero();
}

Bounded Product::result() const {
  if (strange_.any() || zero_) return special_result();
  const double sign = negative_ ? -1 : 1;
  if (count_ == 0) return exact(sign);
  if (count_ == 1) {
    Bounded r = last_;
    r.nonnegative = nonnegative_;
    if (negative_ == is_negative(last_)) return r;
    r.value = -r.value;
    r.low = -r.low;
    return r;
  }
  const double size = std::fabs(mantissa_.hi);
  const double log_of_size = std::log2(size) + static_cast<double>(exponent_);
  const bool fits = largest_.log2() < std::log2(f_.largest) - kMargin;
  const int exponent = static_cast<int>(std::clamp<int64_t>(exponent_, -5000, 5000));
  const double least_normal = f_.tiny / f_.epsilon;
  const bool is_subnormal = smallest_.log2() < std::log2(least_normal) + kMargin;
  const bool is_exact = exact_ && odd_ <= std::ldexp(1, f_.precision) &&
                        lowest_bit_ >= std::ilogb(f_.tiny) && fits &&
                        (f_.flush == 0 || !is_subnormal);
  if (is_exact) return exact(sign * std::ldexp(size, exponent));
  if (!fits) {
    const bool is_certain = !bounded_ && smallest_.log2() == 0 &&
                            log_of_size > std::log2(f_.largest) + 1 + kMargin +
                                              static_cast<double>(count_) * f_.epsilon;
    return is_certain ? overflowed(f_, negative_) : ambiguous();
  }
  const double n = static_cast<double>(count_);
  const double low_sign = std::signbit(mantissa_.hi) ? -sign : sign;
  const Pair v = {sign * std::ldexp(size, exponent), low_sign * std::ldexp(mantissa_.lo, exponent)};
  const double most = most_.value() * (1 + n * 0x1p-50);
  double spread = most * std::expm1((n - 1) * (f_.epsilon / 2) * kSlack) + most * n * 0x1p-98;
  if (bounded_) spread += std::max(0.0, most - std::fabs(v.hi));
  // A partial product among the least numbers is off by half of one, or flushed, which the others
  // multiply.
  if (is_subnormal) spread += n * std::max(f_.tiny, f_.flush) * largest_.value();
  if (!(std::fabs(v.hi) + spread * kSlack < f_.overflow)) return ambiguous();
  Bounded r = within(f_, v, spread, 0);
  r.nonnegative = nonnegative_;
  return r;
}

}  // namespace assay::reference
