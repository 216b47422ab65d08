#pragma once

#include <span>
#include <vector>

#include "engine/codegen/lane_terms.h"

namespace assay::codegen {

// The lanes of a BITCAST between types of different widths: the bits of an element, from the lowest
// up, become those of several, or several become one. False where the last one would be cut.
bool rebits(LaneTerms& terms, std::span<const uop::Ref> lanes, uop::DType from, uop::DType to,
            std::vector<uop::Ref>& out);

}  // namespace assay::codegen
