#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/schedule/calls.h"
#include "engine/schedule/plan.h"

namespace assay::schedule {

// Storage that is not laid into arenas, by the kind of its device (what stands before the colon).
struct Exclusion {
  std::string_view kind;
  std::string_view why;
  bool may_opt_in;  // a device of the kind may be planned after all
};
std::span<const Exclusion> all_exclusions();

struct PlanOptions {
  std::span<const Ref> held;  // BUFFERs that others hold: their storage is theirs
  // Names of devices that are planned although their kind is excluded, since parts of a buffer may
  // be bound there, at every multiple of a block.
  std::span<const std::string> opted_in;
};

// What was planned, for people and for records. It holds no nodes. Sizes are in bytes.
struct MemoryPlan {
  struct Buffer {
    int32_t number = 0;  // of the BUFFER
    std::string type;    // "f32[2, 3]"
    std::string device;
    int64_t bytes = 0;
    std::string_view kept;  // why it has storage of its own: "held", "disk", …; "" where planned
    int32_t arena = -1;     // the place of its arena
    int64_t offset = 0;
    int32_t first = 0;  // the first and the last call that touches it
    int32_t last = 0;
    int32_t end = 0;  // its bytes are its own up to here
  };
  struct Arena {
    int32_t number = 0;  // of its BUFFER
    std::string device;
    Lane lane = Lane::Compute;
    int64_t bytes = 0;
    int64_t lower_bound_bytes = 0;
    int64_t wanted_bytes = 0;  // its buffers side by side, each rounded to blocks
    std::string_view by;       // how it was packed
  };
  std::vector<Buffer> buffers;  // by first use
  std::vector<Arena> arenas;
  std::vector<Edge> reuse;
  int32_t calls = 0;
  int64_t planned_bytes = 0;      // of all arenas
  int64_t lower_bound_bytes = 0;  // the same at best: per arena, the most that is held at once
  int64_t wanted_bytes = 0;       // all planned buffers side by side
};

struct Planned {
  Ref linear = nullptr;
  MemoryPlan plan;
};

// The LINEAR with its BUFFERs laid into arenas, one a device and lane, and the edges which that
// needs. Each arena is a BUFFER of u8, numbered from `next_buffer` on; in the place of a buffer
// stands a view of it (README.md, Forms), so views of a buffer follow it. Sizes of symbolic shapes
// are the largest they can be. An error where an arena leaves 63 bits or a size has no largest
// value.
Result<Planned> memory_plan_rewrite(Graph& g, Ref linear, int32_t& next_buffer,
                                    const PlanOptions& options = {});

}  // namespace assay::schedule
