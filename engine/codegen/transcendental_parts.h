#pragma once

#include "engine/codegen/term.h"

// The functions that transcendental_rules() are made of. Each takes a term of f32 or f64.
namespace assay::codegen {

// A number as an unevaluated sum: lo is at most half a unit in the last place of hi.
struct Pair {
  Term hi;
  Term lo;
};

// What differs between the formats.
struct Format {
  uop::DType t;
  int mantissa_bits;
  int bias;
};
Format format(uop::DType t);

Pair pair_of(Term x, double hi, double lo);
// The exact sum and product of two numbers; quick_sum asks for |a| >= |b|.
Pair quick_sum(Term a, Term b);
Pair exact_sum(Term a, Term b);
Pair exact_product(Term a, Term b);
// Within a few units of the square of the precision.
Pair product(Pair a, Pair b);

// The nearest whole number of x * scale for |x * scale| < 2^(mantissa bits - 1), as a float, and
// with its low bits as an integer that no x makes undefined.
struct Whole {
  Term number;
  Term integer;  // of the signed type as wide as x
};
Whole nearest(Term x, double scale);
// 2^k for an integer k of normal exponents.
Term power_of_two(Term k, uop::DType t);

Term exp(Term x);
Term exp2(Term x);
// 2^(z.hi + z.lo)
Term exp2(Pair z);

Term log(Term x);
Term log2(Term x);
Term pow(Term x, Term y);

// No more of the range is handled than what float bounds of x say is there.
Term sin(Term x);
Term cos(Term x);
Term tan(Term x);

}  // namespace assay::codegen
