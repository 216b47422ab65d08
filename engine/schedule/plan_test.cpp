#include "engine/schedule/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/schedule/sample_plan.h"

namespace assay::schedule {
namespace {

using uop::UInt128;

std::vector<Dependency> dependencies(std::span<const Edge> edges) {
  std::vector<Dependency> out;
  for (const Edge& e : edges) out.push_back({e.from, e.to, e.kind, -1});
  return out;
}

std::vector<Edge> all_edges(const SamplePlan& s, const Plan& plan) {
  std::vector<Edge> edges = s.edges;
  edges.insert(edges.end(), plan.reuse.begin(), plan.reuse.end());
  return edges;
}

bool lie_over_each_other(const PlannedBuffer& a, const PlannedBuffer& b) {
  return a.arena >= 0 && a.arena == b.arena && a.offset < b.offset + b.size &&
         b.offset < a.offset + a.size;
}

// Two buffers that lie over each other of which the earlier one is not done with when the later one
// begins, calls running in this order. Queues run at once, so that neither is read is no excuse.
std::optional<std::string> clash(const SamplePlan& s, const Plan& plan,
                                 std::span<const int32_t> order) {
  std::vector<int32_t> first(s.buffers.size(), INT32_MAX);
  std::vector<int32_t> last(s.buffers.size(), -1);
  for (int32_t i = 0; i < static_cast<int32_t>(order.size()); i++) {
    for (const int32_t b : s.calls[static_cast<size_t>(order[static_cast<size_t>(i)])].buffers) {
      first[static_cast<size_t>(b)] = std::min(first[static_cast<size_t>(b)], i);
      last[static_cast<size_t>(b)] = i;
    }
  }
  for (size_t a = 0; a < s.buffers.size(); a++) {
    for (size_t b = 0; b < s.buffers.size(); b++) {
      const bool is_earlier = plan.buffers[a].last < plan.buffers[b].first;
      if (a == b || !lie_over_each_other(plan.buffers[a], plan.buffers[b])) continue;
      if (!is_earlier && plan.buffers[b].last >= plan.buffers[a].first) {
        return fmt::format("buffers {} and {} share bytes and places", a, b);
      }
      if (is_earlier && last[a] >= first[b]) {
        return fmt::format("buffer {} is begun before {} is done with", b, a);
      }
    }
  }
  return std::nullopt;
}

Plan planned(const SamplePlan& s) {
  auto plan = plan_memory(s.buffers, s.calls, s.edges);
  EXPECT_TRUE(plan.ok());
  return std::move(plan).value();
}

// Arenas, offsets and edges: "0+0 1+0 0+1; 1 reuse 2".
std::string text(const Plan& plan) {
  std::string out;
  for (const PlannedBuffer& b : plan.buffers) {
    const std::string place =
        b.arena < 0 ? std::string("-") : fmt::format("{}+{}", b.arena, b.offset);
    out += fmt::format("{}{}", out.empty() ? "" : " ", place);
  }
  std::string_view mark = "; ";
  for (const Edge& e : plan.reuse) {
    out += fmt::format("{}{} {} {}", mark, e.from, to_text(e.kind), e.to);
    mark = ", ";
  }
  return out;
}

// Calls that each read the buffer made before: k makes buffer k.
SamplePlan chain(int32_t calls) {
  SamplePlan s;
  for (int32_t k = 0; k < calls; k++) {
    s.buffers.push_back({0, 1000, false});
    s.calls.push_back({{k}, false});
    if (k == 0) continue;
    s.calls.back().buffers.push_back(k - 1);
    s.edges.push_back({k - 1, k, EdgeKind::Raw});
  }
  return s;
}

TEST(Plan, AChainTakesTwoBuffersAndNoEdge) {
  const Plan plan = planned(chain(6));
  EXPECT_EQ(text(plan), "0+0 0+4 0+0 0+4 0+0 0+4");
  ASSERT_EQ(plan.arenas.size(), 1U);
  EXPECT_EQ(plan.arenas[0].size, 8);
  EXPECT_EQ(plan.arenas[0].lower_bound, 8);
  EXPECT_EQ(plan.arenas[0].wanted, 24);
}

TEST(Plan, AnUnorderedUseOfTheSameBytesGetsAnEdge) {
  SamplePlan s;
  for (int32_t b = 0; b < 4; b++) s.buffers.push_back({0, 256, false});
  s.calls = {{{0}, false}, {{0, 1}, false}, {{2}, false}, {{2, 3}, false}};
  s.edges = {{0, 1, EdgeKind::Raw}, {2, 3, EdgeKind::Raw}};
  EXPECT_EQ(text(planned(s)), "0+0 0+1 0+0 0+1; 1 reuse 2");
}

TEST(Plan, EveryLastReaderIsWaitedFor) {
  SamplePlan s;
  s.buffers = {{0, 256, false}, {0, 0, true}, {0, 256, false}};
  s.calls = {{{0}, false}, {{0, 1}, false}, {{0, 1}, false}, {{2}, false}};
  s.edges = {{0, 1, EdgeKind::Raw}, {0, 2, EdgeKind::Raw}};
  EXPECT_EQ(text(planned(s)), "0+0 - 0+0; 1 reuse 3, 2 reuse 3");
  s.edges.push_back({1, 3, EdgeKind::War});
  EXPECT_EQ(text(planned(s)), "0+0 - 0+0; 2 reuse 3");
}

TEST(Plan, CopiesHaveALaneAndKeepTheirBytesLonger) {
  SamplePlan s;
  for (int32_t b = 0; b < 4; b++) s.buffers.push_back({0, 256, false});
  s.calls = {{{0}, true}, {{0, 1}, false}, {{2}, true}, {{3}, true}};
  const Plan plan = planned(s);
  // 0 lives in calls 0 and 1 and two calls longer.
  EXPECT_EQ(text(plan).substr(0, 15), "1+0 0+0 1+1 1+2");
  EXPECT_EQ(plan.buffers[0].end, 4);
  EXPECT_EQ(plan.arenas[1].lane, Lane::Copy);
}

TEST(Plan, DevicesDoNotShare) {  // B039
  SamplePlan s;
  s.buffers = {{0, 256, false}, {1, 256, false}, {0, 256, false}};
  s.calls = {{{0}, false}, {{1}, false}, {{2}, false}};
  EXPECT_EQ(text(planned(s)), "0+0 1+0 0+0; 0 reuse 2");
}

TEST(Plan, AReadOnlyArgumentLivesToItsLastCall) {  // B038
  // m := lerp(m, g); p := p - m; a cast of the same size; m is read at the end.
  SamplePlan s;
  for (int32_t b = 0; b < 3; b++) s.buffers.push_back({0, 256, false});
  s.calls = {{{0}, false}, {{1, 0}, false}, {{2}, false}, {{0}, false}};
  s.edges = {{0, 1, EdgeKind::Raw}, {0, 3, EdgeKind::Raw}};
  const Plan plan = planned(s);
  EXPECT_FALSE(lie_over_each_other(plan.buffers[0], plan.buffers[2]));
}

TEST(Plan, TinyAndHugeBuffersAreHeldApart) {  // B035
  SamplePlan s;
  s.buffers = {{0, 32, true}, {0, 32, true}, {0, 4, false}, {0, 6, false}};
  s.calls = {{{0, 1}, false}, {{2, 3}, false}};
  EXPECT_EQ(text(planned(s)), "- - 0+0 0+1");
  s.buffers = {{0, 34359738368000U, false}, {0, UInt128{1} << 64, false}, {0, 1, false}};
  s.calls = {{{0, 1, 2}, false}};
  EXPECT_EQ(planned(s).arenas[0].size, 134217728000 + (int64_t{1} << 56) + 1);
  s.buffers.push_back({0, ~UInt128{0}, false});
  s.calls[0].buffers.push_back(3);
  EXPECT_EQ(
      plan_memory(s.buffers, s.calls, {}).error().message,
      "buffer 3 of 340282366920938463463374607431768211455 bytes is more than can be planned");
  s.buffers[3].bytes = UInt128{3} << 68;
  s.buffers.push_back(s.buffers[3]);
  s.calls[0].buffers.push_back(4);
  EXPECT_EQ(plan_memory(s.buffers, s.calls, {}).error().message,
            "buffers up to 4 are more than can be planned");
}

TEST(Plan, OffsetsHaveMoreThan32Bits) {  // B041
  SamplePlan s;
  s.buffers = {{0, (int64_t{1} << 32) + 256, false}, {0, 256, false}};
  s.calls = {{{0, 1}, false}};
  const Plan plan = planned(s);
  EXPECT_EQ(plan.buffers[1].offset * kBlock, 4294967552);
}

TEST(Plan, WhatNobodyTouchesHasNoPlace) {
  SamplePlan s;
  s.buffers = {{0, 256, false}, {0, 0, false}};
  s.calls = {{{1}, false}};
  EXPECT_EQ(text(planned(s)), "- -");
}

// A short list in which much is unordered and most buffers fit where others were.
SamplePlan unordered(uint64_t seed) {
  Choices choose(numbers_of(seed, 200));
  SamplePlan s = sample_plan(choose, 2 + choose.below(6), 1 + choose.below(2));
  std::erase_if(s.edges, [&](const Edge&) { return choose.below(2) == 0; });
  for (PlanBuffer& b : s.buffers) b.bytes = 256 * (1 + b.bytes % 3);
  return s;
}

TEST(PlanLaw, NoOrderThatTheEdgesAllowHasTwoBuffersAtOnce) {
  for (uint64_t seed = 0; seed < 500; seed++) {
    const SamplePlan s = unordered(seed);
    const Plan plan = planned(s);
    each_extension(static_cast<int32_t>(s.calls.size()), dependencies(all_edges(s, plan)),
                   [&](std::span<const int32_t> order) {
                     const auto bad = clash(s, plan, order);
                     EXPECT_FALSE(bad) << seed << ": " << bad.value_or("") << " in " << text(plan);
                     return !bad;
                   });
  }
}

TEST(PlanLaw, NoReuseEdgeCanBeLeftOut) {
  size_t edges_seen = 0;
  for (uint64_t seed = 0; seed < 500; seed++) {
    const SamplePlan s = unordered(seed);
    const Plan plan = planned(s);
    edges_seen += plan.reuse.size();
    for (size_t i = 0; i < plan.reuse.size(); i++) {
      Plan less = plan;
      less.reuse.erase(less.reuse.begin() + static_cast<std::ptrdiff_t>(i));
      bool is_bad = false;
      each_extension(static_cast<int32_t>(s.calls.size()), dependencies(all_edges(s, less)),
                     [&](std::span<const int32_t> order) {
                       is_bad = clash(s, plan, order).has_value();
                       return !is_bad;
                     });
      EXPECT_TRUE(is_bad) << seed << ": edge " << i << " of " << text(plan);
    }
  }
  EXPECT_GT(edges_seen, 500U);
}

TEST(PlanLaw, LongListsAreRightAndLow) {
  int64_t size = 0;
  int64_t lower_bound = 0;
  double worst = 1;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    Choices choose(numbers_of(seed, 3000));
    const SamplePlan s = sample_plan(choose, 5 + choose.below(150), 1 + choose.below(3));
    const Plan plan = planned(s);
    int64_t own_size = 0;
    int64_t own_bound = 0;
    for (const PlannedArena& a : plan.arenas) {
      own_size += a.size;
      own_bound += a.lower_bound;
      EXPECT_LE(a.size, a.wanted);
    }
    size += own_size;
    lower_bound += own_bound;
    worst = std::max(worst, static_cast<double>(own_size) / static_cast<double>(own_bound));
    if (seed % 10 != 0) continue;
    EXPECT_EQ(text(planned(s)), text(plan));
    const auto edges = dependencies(all_edges(s, plan));
    const auto calls = static_cast<int32_t>(s.calls.size());
    for (int i = 0; i < 4; i++) {
      EXPECT_EQ(clash(s, plan, draw_extension(choose, calls, edges)).value_or(""), "") << seed;
    }
  }
  const double mean = static_cast<double>(size) / static_cast<double>(lower_bound);
  RecordProperty("sum", std::to_string(mean));
  fmt::print("planned / lower bound: {:.4f} in all, {:.4f} at worst\n", mean, worst);
  EXPECT_LE(mean, 1.10);
  EXPECT_LE(worst, 1.5);
}

}  // namespace
}  // namespace assay::schedule
