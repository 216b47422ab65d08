#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/schedule/calls.h"
#include "engine/uop/dtype.h"

namespace assay::schedule {

// The granularity of placement, in bytes.
inline constexpr int64_t kBlock = 256;

// Buffers that copies touch have arenas of their own: what computes does not wait for what copies
// only because of where they put things.
enum class Lane : uint8_t { Compute, Copy };
std::string_view to_text(Lane lane);

// A memory plan without its graph: devices and buffers are numbers.
struct PlanBuffer {
  int32_t device = 0;
  uop::UInt128 bytes = 0;
  bool is_kept = false;  // has storage of its own
};
struct PlanCall {
  std::vector<int32_t> buffers;  // that it reads or writes
  bool is_copy = false;
};

struct PlannedBuffer {
  int32_t arena = -1;  // none: kept, empty or untouched
  int64_t offset = 0;  // in blocks
  int64_t size = 0;    // in blocks
  int32_t first = -1;  // the first and the last call that touches it
  int32_t last = -1;
  int32_t end = -1;  // it has its bytes up to here; a copied one last - first + 1 calls longer
};
struct PlannedArena {
  int32_t device = 0;
  Lane lane = Lane::Compute;
  int64_t size = 0;         // in blocks, as all of these
  int64_t lower_bound = 0;  // the most that is held at once
  int64_t wanted = 0;       // all its buffers side by side
  std::string_view by;      // how it was packed
};
struct Plan {
  std::vector<PlannedBuffer> buffers;
  std::vector<PlannedArena> arenas;  // by device, then lane
  std::vector<Edge> reuse;
};

// Lays buffers that never live at the same time over each other, within one device and lane. Lives
// are counted in places of the list, and the reuse edges make the plan right in every order that
// all edges allow. An error where sizes leave 62 bits of blocks.
Result<Plan> plan_memory(std::span<const PlanBuffer> buffers, std::span<const PlanCall> calls,
                         std::span<const Edge> edges);

}  // namespace assay::schedule
