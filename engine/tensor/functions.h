#pragma once

#include "engine/tensor/nodes.h"

namespace assay::tensor {

// What ops of several families are made of.

// The written shape.
inline Dims written_shape(const Building& b) {
  const Shape shape = b.shape();
  return {shape.begin(), shape.end()};
}

Term abs_of(Term x);
Term erf_of(Term x);
inline Term exp(Term x) { return call(Fn::Exp, x); }
inline Term log(Term x) { return call(Fn::Log, x); }
inline Term sqrt(Term x) { return call(Fn::Sqrt, x); }
inline Term recip(Term x) { return call(Fn::Recip, x); }
inline Term rsqrt(Term x) { return recip(sqrt(x)); }

// The type in which values of type t are summed where nothing else is said: no narrower than 32
// bits.
DType sum_type(DType t);
// The type that a statement accumulates in, t being the operands'; `fallback` where it names none.
Result<DType> accumulation(const Building& b, DType t, DType fallback);

// A row of a function of one operand.
template <Term (*f)(Term)>
Result<Ref> of_one(const Building& b) {
  return f(operand(b, 0)).u;
}

// At x's type.
Term sum(Term x, const Axes& axes, bool keep = false);
Term mean(Term x, const Axes& axes, bool keep = false);
Term softmax(Term x, int64_t axis);
// A size at a float type.
Term at_type(Dim n, DType t);
// (x - mean) * rsqrt(variance + eps) over axes.
Term normalized(Term x, const Axes& axes, double eps);

}  // namespace assay::tensor
