#pragma once

#include <cstdint>
#include <vector>

#include "engine/codegen/tiling.h"

namespace assay::codegen {

// How the place that an INDEX names depends on one axis of the kernel.
struct Along {
  bool depends = false;   // the place does, in whatever way
  int64_t stride = 0;     // elements from one iteration to the next where that is all; else 0
  bool is_gated = false;  // whether there is one at all does
};

// An INDEX of storage, read or written.
struct Access {
  uop::Ref index;
  bool is_stored = false;
  std::vector<Along> along;  // by axis
};

// Each INDEX of the kernel once, in the order of the toposort.
std::vector<Access> accesses_of(uop::Graph& g, uop::Ref kernel, const Tiling& tiling);

}  // namespace assay::codegen
