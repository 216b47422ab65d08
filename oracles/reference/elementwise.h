#pragma once

#include <span>
#include <utility>
#include <vector>

#include "oracles/reference/evaluating.h"

namespace assay::reference {

// Operands under one shape: each as many elements as the shape holds, or one that stands for all.
struct Together {
  Dims shape;
  std::vector<std::span<const Bounded>> operands;
  std::vector<Elements> held;  // what had to be repeated
};
// All operands that are there broadcast; those that are absent are empty.
Result<Together> together(const Evaluating& e);

// An array of type t that f(out, operands) fills.
template <typename F>
Result<Array> with_broadcast(const Evaluating& e, DType t, F f) {
  ASSAY_TRY(all, together(e));
  Array result{t, std::move(all.shape), {}};
  result.elements.resize(count(result.shape));
  f(span_of(result.elements), std::span(all.operands));
  return result;
}

}  // namespace assay::reference
