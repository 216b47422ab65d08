#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/schedule/calls.h"

namespace assay::schedule {

// A buffer in an arena, with the calls that touch it.
struct Placed {
  int32_t arena = 0;
  int64_t offset = 0;  // in blocks, as its size
  int64_t size = 0;
  std::vector<int32_t> users;  // places in the list of calls, rising, each once; not empty
};

// The reuse edges that make the placement right in every order that `edges` and they allow: where b
// lies over bytes of a that was done with before, every call that touches a comes before every call
// that touches b. Only those are given that no path of other edges implies; so none can be left
// out. Placed buffers that overlap are touched one after the other: all of one's users stand before
// all of the other's.
std::vector<Edge> reuse_edges(int32_t calls, std::span<const Edge> edges,
                              std::span<const Placed> placed);

}  // namespace assay::schedule
