#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/uop/facts.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/target.h"
#include "engine/uop/uop.h"

// What the stages of this folder show to a watch (uop/watch.h).
namespace assay::schedule {

struct MemoryPlan;
struct PlanOptions;

// What became of a look-up in the schedule cache.
enum class Lookup : uint8_t {
  Hit,
  Miss,     // made and kept
  Off,      // there is no cache
  Limited,  // firings are limited: what a rule changed before cannot be left out of the count
  Edited,   // the watch edits graphs
};
std::string_view to_text(Lookup lookup);

// A schedule was looked up.
struct CacheSeen {
  uop::Graph& graph;
  uop::Ref sink;  // what is to be scheduled
  Lookup lookup;
  const uop::Target& target;
  const uop::Switches& switches;
  uop::Ref linear = nullptr;  // of a hit: what is served
  uop::Key key = {};          // of its structure, where it was looked up
  uint64_t hits = 0;          // of this cache, this one included
  uint64_t misses = 0;
  uint64_t skipped = 0;
};

// Kernels were put in order.
struct ScheduleSeen {
  uop::Graph& graph;
  uop::Ref kernels;  // SINK(state…)
  uop::Ref linear;   // nullptr where they cannot be
  std::string_view error;
};

// Memory was planned.
struct PlanSeen {
  uop::Graph& graph;
  uop::Ref linear;   // over buffers
  uop::Ref planned;  // over arenas
  const MemoryPlan& plan;
  const PlanOptions& options;                                  // that it was planned with
  std::span<const std::pair<std::string, int64_t>> variables;  // their values in this run
};

}  // namespace assay::schedule
