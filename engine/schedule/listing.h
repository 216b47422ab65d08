#pragma once

#include <string>

#include "engine/schedule/calls.h"
#include "engine/schedule/memory_plan.h"

namespace assay::schedule {

// "add_64 on sim:0: b3 f32[64] <- b1 f32[64], p0 f32[64]". BUFFERs are b and their number, PARAMs p
// and their slot, parts of an arena its name and where they begin: b7+256.
std::string call_text(Graph& g, Ref call);

// A LINEAR as a table, a line a call: its device, what it writes and reads, each with the version
// (b3.2 is what the second call that writes to b3 leaves, b3.0 what was there before), and what it
// waits for.
std::string schedule_text(Graph& g, Ref linear);
// The same for Graphviz: a box a call, an arrow an edge, drawn by its kind.
std::string schedule_dot(Graph& g, Ref linear);

// Arenas with their buffers by offset, what has storage of its own, and what it comes to.
std::string plan_text(const MemoryPlan& plan);
// The same for Graphviz: a box a buffer, and an arrow from those that had bytes of it before.
std::string plan_dot(const MemoryPlan& plan);

}  // namespace assay::schedule
