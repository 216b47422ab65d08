#pragma once

#include <span>
#include <vector>

#include "engine/uop/rewrite.h"

namespace assay::uop {

// The conditions that `condition` is the conjunction of, from left to right.
std::vector<Ref> conjuncts(Ref condition);
// Their conjunction; true for none.
Ref conjunction(Graph& g, std::span<const Ref> conditions);

// A simpler term that has the value of `u` wherever all conditions hold, or u itself: a condition
// that occurs in it is true, and what a condition bounds is taken to have those bounds. Simpler
// means fewer operations.
Ref given(Run& run, Ref u, std::span<const Ref> conditions);

}  // namespace assay::uop
