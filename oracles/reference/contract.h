#pragma once

#include <cstdint>
#include <vector>

#include "oracles/reference/evaluating.h"

namespace assay::reference {

// One operand of sums of products: result i sums the elements at outer[i] + inner[k] over k.
struct Factor {
  Elements elements;  // in the type to accumulate in
  std::vector<int64_t> outer;
  std::vector<int64_t> inner;
};

// The sums over k of x times y, of as many results as both have.
Elements dots(Type t, const Factor& x, const Factor& y);

// The elements of x at another type.
Elements elements_at(const Array& x, DType t);

// The results of sums of products, cast from the type to accumulate in to that of the operands.
Result<Array> contracted(const Evaluating& e, Dims shape, const Factor& x, const Factor& y);

// How rows of x meet columns of y.
struct Matrices {
  std::vector<Axis> x_outer, x_inner;
  std::vector<Axis> y_outer, y_inner;
  Dims shape;  // of the result: the axis of a vector is dropped
};
Result<Matrices> matrices(const Dims& x, const Dims& y);

// The rows of contract_rows() that have files of their own.
Result<Array> einsum(const Evaluating& e);
Result<Array> conv(const Evaluating& e);
Result<Array> conv_transpose(const Evaluating& e);

}  // namespace assay::reference
