#pragma once

#include <cstdint>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::interpreter {

// Orders of the calls of a LINEAR (places in its list) in which each edge goes forwards, as run()
// takes them. An edge that leads nowhere, or a circle, is our bug.

// One drawn at each step from the calls that may come next.
std::vector<int> random_extension(uop::Ref linear, uint64_t seed);
// Always the call with the highest place: as far from the list's own order as the edges let it.
std::vector<int> last_first_extension(uop::Ref linear);

// Whether the order has each call once and breaks no edge.
bool is_extension(uop::Ref linear, const std::vector<int>& order);

}  // namespace assay::interpreter
