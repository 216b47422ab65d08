#include "engine/schedule/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/schedule/at.h"
#include "engine/schedule/pack.h"
#include "engine/schedule/reuse.h"

namespace assay::schedule {
namespace {

using uop::UInt128;

constexpr UInt128 kMostBlocks = UInt128{1} << 62;

// What calls do with each buffer.
struct Uses {
  std::vector<std::vector<int32_t>> users;
  std::vector<char> is_copied;
};

Uses uses_of(size_t buffers, std::span<const PlanCall> calls) {
  Uses uses{std::vector<std::vector<int32_t>>(buffers), std::vector<char>(buffers)};
  for (int32_t k = 0; k < static_cast<int32_t>(calls.size()); k++) {
    for (const int32_t b : calls[at(k)].buffers) {
      auto& users = uses.users[at(b)];
      if (users.empty() || users.back() != k) users.push_back(k);
      if (calls[at(k)].is_copy) uses.is_copied[at(b)] = 1;
    }
  }
  return uses;
}

Result<int64_t> blocks_of(UInt128 bytes, size_t buffer) {
  const UInt128 blocks = bytes / kBlock + (bytes % kBlock == 0 ? 0 : 1);
  if (blocks < kMostBlocks) return static_cast<int64_t>(blocks);
  return Error{fmt::format("buffer {} of {} bytes is more than can be planned", buffer, bytes)};
}

// Places all buffers of one arena.
PlannedArena fill(std::span<PlannedBuffer> buffers, std::span<const int32_t> members,
                  int32_t arena) {
  std::vector<Span> spans;
  PlannedArena made;
  for (const int32_t b : members) {
    const PlannedBuffer& buffer = buffers[at(b)];
    spans.push_back({buffer.first, buffer.end, buffer.size});
    made.wanted += buffer.size;
  }
  const Packing packing = pack(spans);
  for (size_t i = 0; i < members.size(); i++) {
    buffers[at(members[i])].arena = arena;
    buffers[at(members[i])].offset = packing.offsets[i];
  }
  made.size = packing.height;
  made.lower_bound = lowest_height(spans);
  made.by = packing.by;
  return made;
}

std::vector<Edge> edges_for(const Plan& plan, Uses& uses, int32_t calls,
                            std::span<const Edge> edges) {
  std::vector<Placed> placed;
  for (size_t b = 0; b < plan.buffers.size(); b++) {
    const PlannedBuffer& buffer = plan.buffers[b];
    if (buffer.arena < 0) continue;
    placed.push_back({buffer.arena, buffer.offset, buffer.size, std::move(uses.users[b])});
  }
  return reuse_edges(calls, edges, placed);
}

}  // namespace

std::string_view to_text(Lane lane) { return lane == Lane::Copy ? "copy" : "compute"; }

Result<Plan> plan_memory(std::span<const PlanBuffer> buffers, std::span<const PlanCall> calls,
                         std::span<const Edge> edges) {
  Uses uses = uses_of(buffers.size(), calls);
  Plan plan;
  plan.buffers.resize(buffers.size());
  std::map<std::pair<int32_t, Lane>, std::vector<int32_t>> arenas;
  UInt128 all = 0;
  for (size_t b = 0; b < buffers.size(); b++) {
    const std::vector<int32_t>& users = uses.users[b];
    PlannedBuffer& planned = plan.buffers[b];
    if (users.empty()) continue;
    planned.first = users.front();
    planned.last = users.back();
    planned.end = planned.last + 1;
    if (buffers[b].is_kept) continue;
    ASSAY_TRY(size, blocks_of(buffers[b].bytes, b));
    planned.size = size;
    all += static_cast<UInt128>(size);
    if (all >= kMostBlocks)
      return Error{fmt::format("buffers up to {} are more than can be planned", b)};
    const Lane lane = uses.is_copied[b] != 0 ? Lane::Copy : Lane::Compute;
    if (lane == Lane::Copy) planned.end += planned.last - planned.first + 1;
    if (size > 0) arenas[{buffers[b].device, lane}].push_back(static_cast<int32_t>(b));
  }
  for (const auto& [key, members] : arenas) {
    PlannedArena arena = fill(plan.buffers, members, static_cast<int32_t>(plan.arenas.size()));
    arena.device = key.first;
    arena.lane = key.second;
    plan.arenas.push_back(arena);
  }
  plan.reuse = edges_for(plan, uses, static_cast<int32_t>(calls.size()), edges);
  return plan;
}

}  // namespace assay::schedule
