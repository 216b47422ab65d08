// Numbers as sums of two, and what functions of both formats have in common.
#include "engine/codegen/transcendental_parts.h"

namespace assay::codegen {

Format format(uop::DType t) {
  const uop::FloatFormat f = uop::format_of(t);
  return {t, f.mantissa_bits, f.bias()};
}

Pair pair_of(Term x, double hi, double lo) {
  const Term high = x.number(hi);
  return {high, x.number(lo)};
}

// Dekker, "A floating-point technique for extending the available precision", 1971.
Pair quick_sum(Term a, Term b) {
  const Term sum = a + b;
  const Term part = sum - a;
  return {sum, b - part};
}

// Knuth, "The Art of Computer Programming", 4.2.2, theorem B.
Pair exact_sum(Term a, Term b) {
  const Term sum = a + b;
  const Term b_part = sum - a;
  const Term a_part = sum - b_part;
  const Term a_lost = a - a_part;
  const Term b_lost = b - b_part;
  return {sum, a_lost + b_lost};
}

// The product is an fma, so that no compiler takes it into a sum, which would count what it lost
// twice.
Pair exact_product(Term a, Term b) {
  const Term high = fma(a, b, -0.0);
  return {high, fma(a, b, -high)};
}

Pair product(Pair a, Pair b) {
  const Pair p = exact_product(a.hi, b.hi);
  const Term cross = fma(a.hi, b.lo, p.lo);
  return quick_sum(p.hi, fma(a.lo, b.hi, cross));
}

// Adding 1.5 * 2^mantissa_bits leaves whole numbers only, and the sum's bits count them.
Whole nearest(Term x, double scale) {
  const Format f = format(x.type());
  const Term shift = x.number(f.mantissa_bits == 23 ? 0x1.8p23 : 0x1.8p52);
  const Term sum = scale == 1 ? x + shift : fma(x, scale, shift);
  const uop::DType i = signed_of(x.type());
  const Term zero = bits_as(shift, i);
  const Term count = bits_as(sum, i) - zero;
  return {sum - shift, count};
}

Term power_of_two(Term k, uop::DType t) {
  const Format f = format(t);
  return bits_as((k + f.bias) << f.mantissa_bits, t);
}

}  // namespace assay::codegen
