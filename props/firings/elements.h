#pragma once

#include <string>

#include "oracles/interpreter/interpreter.h"

namespace assay::props {

// How far elements that ought to be equal may differ.
struct Rounding {
  bool undefined = false;  // what is poison in the first is not compared
  double units = 0;        // of floats, in the last place of the largest number, or of `most`
  double most = 0;
};

// The first element that differs, in words; "" where none does. NaNs are one value, zeros are two
// unless floats may differ.
std::string difference_of(const interpreter::Elements& a, const interpreter::Elements& b,
                          const Rounding& rounding);

}  // namespace assay::props
