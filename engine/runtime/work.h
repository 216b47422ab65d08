#pragma once

#include <cstdint>

#include "engine/uop/uop.h"

namespace assay::runtime {

// How many operations of floats a launch of a LINEAR does, over all work-items: additions and the
// like count one, fma two, each lane of a vector by itself. Loops of symbolic length count at their
// longest.
int64_t float_operations(uop::Graph& g, uop::Ref linear);

}  // namespace assay::runtime
