#pragma once

#include <vector>

#include "oracles/reference/evaluating.h"

namespace assay::reference {

// Windows that slide over the last axes of a value.
struct Windows {
  Dims size, stride, dilation, low, high;
  Dims out;    // how many windows there are along each axis
  Dims extra;  // what the last windows reach past the padding, of those that only start inside
};
// From the attributes of the op, for windows of these sizes over axes of these.
Result<Windows> windows_of(const Evaluating& e, const Dims& over, Dims size, const Dims& stride,
                           bool ceil);

// x, its last axes longer by the padding of the windows.
Result<Array> padded(const Evaluating& e, const Array& x, const Windows& w, const Bounded& fill);

// The axes along which windows begin, and those of one window, in a padded value.
std::vector<Axis> begins(const Windows& w, const Dims& padded);
std::vector<Axis> insides(const Windows& w, const Dims& padded);

}  // namespace assay::reference
