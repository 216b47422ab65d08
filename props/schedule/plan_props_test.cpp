// Memory plans with mistakes.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/schedule/memory_plan.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"
#include "props/schedule/planted.h"

namespace assay::props {
namespace {

using schedule::EdgeKind;

// a := fill; out := a; b := fill; last := b, where b may have the bytes of a; and c lives all
// along.
class PlanProps : public Props {
 protected:
  void SetUp() override {
    out = buffer(4);
    last = buffer(4);
    held = {out, last};
    a = buffer(4);
    b = buffer(4);
    c = buffer(4);
    const Ref calls[] = {fills("c", {c}), fills("a", {a}), fills("out", {out, a}),
                         fills("b", {b, out}), fills("last", {last, b, c})};
    linear = schedule::make_linear(g, calls,
                                   {{1, 2, EdgeKind::Raw},
                                    {2, 3, EdgeKind::Raw},
                                    {3, 4, EdgeKind::Raw},
                                    {0, 4, EdgeKind::Raw}});
    planned = schedule::memory_plan_rewrite(g, linear, next, {held, {}}).value();
  }

  schedule::PlanSeen seen(Ref now, const schedule::MemoryPlan& plan) {
    how = {held, {}};
    return {g, linear, now, plan, how, {}};
  }
  Checked layout(Ref now) { return layout(now, planned.plan); }
  Checked layout(Ref now, const schedule::MemoryPlan& plan) {
    Context context{prover, uop::generic_target()};
    return plan_layout(seen(now, plan), context);
  }
  // The plan with what stands in the place of a buffer moved by so many bytes.
  Ref moved(Ref buffer, int64_t bytes) {
    uop::Substitution map;
    for (size_t k = 0; k < linear->src.size(); k++) {
      for (size_t i = 1; i < linear->src[k]->src.size(); i++) {
        if (linear->src[k]->src[i] != buffer) continue;
        const Ref view = planned.linear->src[k]->src[i];
        const Ref part = view->src[0];
        const auto begin = static_cast<int64_t>(part->src[1]->arg.bits);
        const Ref there = uop::dim(g, begin + bytes);
        const Ref other = g.make(uop::Op::Shrink, uop::U8, {part->src[0], there, part->src[2]});
        map[view] = g.make(uop::Op::Bitcast, view->dtype, {other});
      }
    }
    return uop::substitute(g, planned.linear, map, uop::Extent::OutsideBodies);
  }
  int64_t offset(Ref buffer) const {
    for (const schedule::MemoryPlan::Buffer& p : planned.plan.buffers) {
      if (p.number == buffer->arg.number()) return p.offset;
    }
    return -1;
  }

  Ref out, last, a, b, c;
  std::vector<Ref> held;
  Ref linear;
  int32_t next = 100;
  schedule::Planned planned;
  schedule::PlanOptions how;
};

TEST_F(PlanProps, OfTheEnginesPlanHold) {
  Context context{prover, uop::generic_target()};
  for (const auto check : {linear_order, plan_order, plan_layout}) {
    const Checked checked = check(seen(planned.linear, planned.plan), context);
    EXPECT_EQ(checked.verdict.answer, Answer::Pass) << checked.verdict.evidence;
    EXPECT_EQ(checked.unknown, 0);
    EXPECT_GT(checked.obligations, 3);
  }
  EXPECT_EQ(offset(a), offset(b));
}

TEST_F(PlanProps, EachEdgeIsMissed) {
  Context context{prover, uop::generic_target()};
  const Ref given = buffer(4);
  held.push_back(given);
  const Ref calls[] = {fills("c", {c}), fills("a", {a}), fills("out", {out, a}),
                       fills("b", {b, given}), fills("last", {last, b, c})};
  linear = schedule::make_linear(
      g, calls, {{1, 2, EdgeKind::Raw}, {3, 4, EdgeKind::Raw}, {0, 4, EdgeKind::Raw}});
  planned = schedule::memory_plan_rewrite(g, linear, next, {held, {}}).value();
  std::string found;
  for (const auto& [edge, faulty] : each_edge_dropped(g, planned.linear)) {
    const Checked checked = plan_order(seen(faulty, planned.plan), context);
    EXPECT_EQ(checked.verdict.answer, Answer::Fail) << checked.verdict.evidence;
    EXPECT_NE(checked.verdict.evidence.find("is right"), std::string::npos);
    found += fmt::format("{} {} {};", edge_kind(edge.kind), edge.from, edge.to);
  }
  EXPECT_EQ(found, "RAW 0 4;RAW 1 2;reuse 2 3;RAW 3 4;");
}

TEST_F(PlanProps, LiveBuffersLaidOverEachOther) {  // B033
  const Checked checked = layout(moved(b, offset(c) - offset(b)));
  EXPECT_EQ(checked.shape, "overlap") << checked.verdict.evidence;
  EXPECT_NE(checked.verdict.evidence.find("while both are in use"), std::string::npos);
  EXPECT_NE(checked.verdict.evidence.find("is right"), std::string::npos);
}

TEST_F(PlanProps, PlacesThatAreOff) {
  EXPECT_EQ(layout(moved(a, 4)).shape, "alignment");
  EXPECT_EQ(layout(moved(a, 1 << 20)).shape, "planned calls");
  EXPECT_EQ(layout(moved(a, 256)).verdict.answer, Answer::Fail);
}

TEST_F(PlanProps, HeldStorageInAnArena) {  // B035
  const auto without = schedule::memory_plan_rewrite(g, linear, next, {}).value();
  const Checked checked = layout(without.linear, without.plan);
  EXPECT_EQ(checked.shape, "kept storage");
  EXPECT_NE(checked.verdict.evidence.find("(held) is put into an arena"), std::string::npos);
}

TEST_F(PlanProps, AnExcludedDeviceInAnArena) {
  const Ref file = buffer(4, uop::F32, "disk:x");
  const Ref calls[] = {fills("a", {file})};
  linear = schedule::make_linear(g, calls, {});
  const std::string name = "cl:x";
  const Ref image = buffer(4, uop::F32, name);
  planned = schedule::memory_plan_rewrite(g, linear, next, {}).value();
  EXPECT_EQ(layout(planned.linear).verdict.answer, Answer::Pass);
  const Ref others[] = {fills("a", {image})};
  linear = schedule::make_linear(g, others, {});
  const std::vector<std::string> opted_in = {name};
  planned = schedule::memory_plan_rewrite(g, linear, next, {{}, opted_in}).value();
  EXPECT_EQ(layout(planned.linear).shape, "kept storage");
}

TEST_F(PlanProps, AnotherCallOrABufferThatMoves) {
  std::vector<Ref> calls(planned.linear->src.begin(), planned.linear->src.end());
  std::swap(calls[0], calls[1]);
  const Ref swapped = g.make(uop::Op::Linear, uop::Void, calls, planned.linear->arg);
  EXPECT_EQ(layout(swapped).shape, "planned calls");
  calls.assign(planned.linear->src.begin(), planned.linear->src.end());
  calls[2] = moved(a, 256)->src[2];
  const Ref apart = g.make(uop::Op::Linear, uop::Void, calls, planned.linear->arg);
  const Checked checked = layout(apart);
  EXPECT_EQ(checked.shape, "planned calls");
  EXPECT_NE(checked.verdict.evidence.find("is elsewhere at call 2"), std::string::npos);
}

TEST_F(PlanProps, ALaneThatIsShared) {
  const Ref bounds[] = {uop::dim(g, 0), uop::dim(g, 4)};
  const Ref source_param = flat(1, 4);
  const Ref from = uop::shrink(g, source_param, bounds);
  const Ref there = device("sim:1");
  const Ref value = g.make(uop::Op::Copy, uop::F32, {from, there});
  const Ref target_param = flat(0, 4);
  const Ref to = uop::shrink(g, target_param, bounds);
  const Ref store = g.make(uop::Op::Store, uop::Void, {to, value});
  const Ref body = g.make(uop::Op::Sink, uop::Void, {store}, g.info("copy", {}));
  const Ref copied = buffer(4);
  const Ref far = buffer(4, uop::F32, "sim:1");
  const Ref calls[] = {fills("a", {a}), fills("copied", {copied, a}), call(body, {far, copied})};
  linear = schedule::make_linear(g, calls, {{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}});
  planned = schedule::memory_plan_rewrite(g, linear, next, {{&far, 1}, {}}).value();
  held = {far};
  EXPECT_EQ(layout(planned.linear).verdict.answer, Answer::Pass);
  ASSERT_EQ(planned.plan.arenas.size(), 2U);
  // The lane's arena becomes the other one.
  const Ref compute = planned.linear->src[0]->src[1]->src[0]->src[0];
  const Ref lane = planned.linear->src[1]->src[1]->src[0]->src[0];
  ASSERT_NE(compute, lane);
  EXPECT_EQ(
      layout(uop::substitute(g, planned.linear, {{lane, compute}}, uop::Extent::OutsideBodies))
          .shape,
      "lane");
}

// Each number of a plan's report that is not so.
TEST_F(PlanProps, ReportsThatAreNotSo) {
  using Plan = schedule::MemoryPlan;
  const std::vector<std::function<void(Plan&)>> lies = {
      [](Plan& p) { p.planned_bytes -= 256; },
      [](Plan& p) { p.lower_bound_bytes += 256; },
      [](Plan& p) { p.wanted_bytes = 0; },
      [](Plan& p) { p.arenas[0].bytes *= 2; },
      [](Plan& p) { p.arenas[0].lower_bound_bytes -= 256; },
      [](Plan& p) { p.arenas[0].device = "sim:7"; },
      [](Plan& p) { p.arenas[0].lane = schedule::Lane::Copy; },
      [](Plan& p) { p.buffers[0].offset += 256; },
      [](Plan& p) { p.buffers[0].last += 1; },
      [](Plan& p) { p.buffers[0].first -= 1; },
      [](Plan& p) { p.buffers[0].bytes += 1; },
      [](Plan& p) { p.buffers[0].kept = "held"; },
      [](Plan& p) { p.buffers[0].end += 1; },
      [](Plan& p) { p.buffers.pop_back(); },
      [](Plan& p) { p.arenas.clear(); },
  };
  for (const auto& lie : lies) {
    Plan plan = planned.plan;
    lie(plan);
    EXPECT_EQ(layout(planned.linear, plan).shape, "report");
  }
}

}  // namespace
}  // namespace assay::props
