#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/schedule/plan.h"
#include "engine/schedule/sample_history.h"

namespace assay::schedule {

// What a plan is made for.
struct SamplePlan {
  std::vector<PlanBuffer> buffers;
  std::vector<PlanCall> calls;
  std::vector<Edge> edges;
};

// A list of calls like that of a program: each call makes a buffer from some that were made lately,
// a few of them long ago; sizes are mixed; some calls are copies to another device.
inline SamplePlan sample_plan(Choices& choose, int32_t calls, int32_t devices = 1) {
  SamplePlan s;
  const auto add_edge = [&](int32_t from, int32_t to) {
    s.edges.push_back({from, to, EdgeKind::Raw});
  };
  std::vector<int32_t> maker;
  for (int32_t k = 0; k < calls; k++) {
    PlanCall call;
    const auto made = static_cast<int32_t>(s.buffers.size());
    const int32_t reads = std::min(made, 1 + choose.below(3));
    for (int32_t i = 0; i < reads; i++) {
      const int32_t reach = choose.below(8) == 0 ? made : std::min(made, 4);
      const int32_t b = made - 1 - choose.below(reach);
      if (std::find(call.buffers.begin(), call.buffers.end(), b) != call.buffers.end()) continue;
      call.buffers.push_back(b);
      add_edge(maker[static_cast<size_t>(b)], k);
    }
    const int32_t device = choose.below(devices);
    call.is_copy = devices > 1 && !call.buffers.empty() && choose.below(6) == 0;
    const auto magnitude = static_cast<uint32_t>(choose.below(16));
    const auto bytes = (1 + static_cast<uint64_t>(choose.below(64))) << magnitude;
    s.buffers.push_back({device, bytes, choose.below(20) == 19});
    call.buffers.push_back(made);
    maker.push_back(k);
    s.calls.push_back(std::move(call));
  }
  std::sort(s.edges.begin(), s.edges.end());
  return s;
}

}  // namespace assay::schedule
