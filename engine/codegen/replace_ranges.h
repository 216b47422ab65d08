#pragma once

#include <span>
#include <vector>

#include "engine/uop/rewrite.h"

namespace assay::codegen {

// What takes the place of a range: a term for its value, the ranges that are closed for it, and a
// condition under which what they say is one of its iterations (null: always).
struct RangeChange {
  uop::Ref range;
  uop::Ref value;
  std::vector<uop::Ref> ranges;
  uop::Ref inside = nullptr;
};

// The kernel with these ranges replaced, its index terms simplified where they changed. What an END
// or a REDUCE closes is listed once, by number. Where an iteration is none of the kernel's nothing
// is read or stored, and what is folded is INVALID.
Result<uop::Ref> replace_ranges(uop::Run& run, uop::Ref kernel,
                                std::span<const RangeChange> changes);

}  // namespace assay::codegen
