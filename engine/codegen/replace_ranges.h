#pragma once

#include <span>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::codegen {

// What takes the place of a range: a term for its value, and the ranges that are closed for it.
struct RangeChange {
  uop::Ref range;
  uop::Ref value;
  std::vector<uop::Ref> ranges;
};

// The kernel with these ranges replaced, not simplified. What an END or a REDUCE closes is listed
// once, by number.
uop::Ref replace_ranges(uop::Graph& g, uop::Ref kernel, std::span<const RangeChange> changes);

}  // namespace assay::codegen
