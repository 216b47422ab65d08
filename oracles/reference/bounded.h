#pragma once

#include <cstdint>
#include <span>

#include "engine/uop/dtype.h"

namespace assay::reference {

using uop::DType;

// What is known of one element of a correct result.
enum class Certainty : uint8_t {
  Exact,    // bits, which every correct result has (integers, bool, floats that were only moved)
  Bounded,  // a float within `bound` of `value`
  Unspecified,  // may be anything
  Ambiguous,    // depends on which value within its bound an operand has (a comparison, a floor)
};

// One element. Integers and bool are exact: `integer`, sign-extended (u64 as its bits). A float is
// value + low (double-double) and a correct result lies within `bound` of that; an infinity or a
// NaN has bound 0. `loose_zero`: the result is a zero of either sign. `loose_nan`: a NaN of any
// bits.
struct Bounded {
  double value = 0;
  double low = 0;
  double bound = 0;
  int64_t integer = 0;
  Certainty certainty = Certainty::Exact;
  bool loose_zero = false;
  bool loose_nan = true;
};

}  // namespace assay::reference
