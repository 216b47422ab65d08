#pragma once

#include <functional>
#include <string>

#include "oracles/interpreter/interpreter.h"
#include "oracles/verdict.h"

namespace assay::props {

// How far elements that ought to be equal may differ.
struct Rounding {
  double units = 0;  // of floats, in the last place of the largest number, or of `most`
  double most = 0;
};

// Whether elements are those that are wanted: the first that differs, in words. NaNs are one value,
// zeros are two unless floats may differ. What the numeric contract leaves open in those that are
// wanted may be anything: where some differ, they are made again with other poison, by `again`.
// Unknown where they cannot.
struct Difference {
  oracles::Answer answer = oracles::Answer::Pass;
  std::string text;
};
Difference difference_of(const interpreter::Elements& wanted, const interpreter::Elements& got,
                         const Rounding& rounding,
                         const std::function<Result<interpreter::Elements>()>& again);

}  // namespace assay::props
