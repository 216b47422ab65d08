#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/result.h"
#include "engine/schedule/cache.h"
#include "engine/schedule/linear.h"
#include "engine/schedule/memory_plan.h"
#include "engine/tensor/session.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/target.h"

namespace assay::schedule {

using tensor::Session;
using tensor::Tensor;

struct Options {
  const uop::Target& target = uop::generic_target();
  uop::Switches switches = {};
  uop::Watch* watch = nullptr;
  Cache* cache = nullptr;                      // without one, every schedule is made afresh
  std::span<const std::string> opted_in = {};  // PlanOptions
};

// The LINEAR over PARAMs of a SINK over PARAMs, made afresh.
Result<Ref> make_schedule(uop::Run& run, Ref sink, const uop::Target& target);

// What has to run so that tensors can be read. Without calls there is nothing to do.
struct Schedule {
  Ref call = nullptr;     // CALL(SINK, args…): what was to be scheduled
  Ref linear = nullptr;   // LINEAR over BUFFERs of the session, with its edges
  Ref planned = nullptr;  // the same over arenas
  MemoryPlan plan;
  std::vector<std::pair<std::string, int64_t>> variables;
  bool hit = false;   // the LINEAR came from the cache
  int snapshots = 0;  // versions that had to be copied for readers that come late
};

// Schedules what these tensors need. From then on they, and all live values that the schedule
// stores, name the storage that holds them once it has run. An error leaves the session as it was:
// what is ill-formed, a cycle that no copy breaks, buffers of several devices in one kernel, one
// variable with two values.
Result<Schedule> linear_with_vars(Session& session, std::span<const Tensor* const> tensors,
                                  const Options& options = {});

}  // namespace assay::schedule
