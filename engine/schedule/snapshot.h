#pragma once

#include <span>

#include "engine/schedule/order.h"
#include "engine/uop/uop.h"

namespace assay::schedule {

// The kernel graph with the first of each circle reading a copy of the version that pins it: a
// kernel copies the version as soon as it is there, and the circle's kernel reads the copy. Copies
// of one version are one.
Ref break_cycles(Graph& g, Ref sink, std::span<const Cycle> cycles);

}  // namespace assay::schedule
