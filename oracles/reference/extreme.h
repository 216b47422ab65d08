#pragma once

#include <span>

#include "oracles/reference/elements.h"

namespace assay::reference {

// The first (or last) position of the largest (or least) of one element or more, as an i32. A NaN
// is more extreme than all. Ambiguous where more than one may be meant.
Bounded place_of_extreme(DType t, std::span<const Bounded> x, bool largest, bool last);

// The stable order of the elements, NaN as the largest: where each comes from, as i32, and what
// stands there. A position is ambiguous where the order depends on values within their bounds; the
// value there then lies between the ends that its rank leaves.
struct Sorted {
  Elements places;
  Elements values;
};
Sorted sorted(DType t, std::span<const Bounded> x, bool descending);

}  // namespace assay::reference
