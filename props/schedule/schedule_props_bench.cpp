// What the properties of schedules and memory plans cost.
#include <benchmark/benchmark.h>

#include <memory>

#include "engine/schedule/memory_plan.h"
#include "engine/schedule/order.h"
#include "engine/schedule/sample_graph.h"
#include "props/schedule/schedule_props.h"

namespace assay::props {
namespace {

using schedule::SampleGraph;
using uop::Ref;

// Kernels that each change one of 100 buffers, in turn, and read two others as they are then; or
// that each make a buffer of their own from two that were made lately, to be planned.
struct ScheduleCase {
  SampleGraph s;
  Ref kernels = nullptr;
  Ref linear = nullptr;
  schedule::Planned planned;
  std::vector<Ref> held;
  std::vector<std::string> opted_in;
  int32_t next = 1 << 20;

  explicit ScheduleCase(int32_t count, bool is_plan) {
    std::vector<Ref> last;
    for (int b = 0; b < (is_plan ? 2 : 100); b++) last.push_back(s.param(b, 4));
    const Ref body = s.sum_kernel("sum", 2, !is_plan);
    for (int32_t k = 0; k < count; k++) {
      if (is_plan) {
        const Ref x = last[last.size() - 1];
        const Ref y = last[last.size() - 2 + (k % 3 == 0 ? 1 : 0)];
        const Ref made = s.buffer(4 + (k % 7) * 64);
        last.push_back(s.after(made, {s.call(body, {made, x, y})}));
        continue;
      }
      Ref& target = last[static_cast<size_t>(k % 100)];
      const Ref x = last[static_cast<size_t>((k * 7 + 1) % 100)];
      const Ref y = last[static_cast<size_t>((k * 13 + 2) % 100)];
      target = s.after(target, {s.call(body, {target, x, y})});
    }
    if (is_plan) last = {last.back()};
    kernels = s.g.make(uop::Op::Sink, uop::Void, last);
    linear = schedule::create_schedule(s.g, kernels).value();
    if (!is_plan) return;
    planned = schedule::memory_plan_rewrite(s.g, linear, next, {held, opted_in}).value();
  }
};

void judge_schedule(benchmark::State& state, bool with_solver) {
  const auto c = std::make_unique<ScheduleCase>(static_cast<int32_t>(state.range(0)), false);
  int64_t obligations = 0;
  for (auto _ : state) {
    smt::ProverOptions options;
    options.asks_z3 = with_solver;
    smt::Prover prover(options);
    Context context{prover, uop::generic_target()};
    const Checked checked = schedule_order({c->s.g, c->kernels, c->linear, ""}, context);
    if (checked.verdict.answer != Answer::Pass) state.SkipWithError("no pass");
    obligations = checked.obligations;
  }
  state.counters["obligations"] = static_cast<double>(obligations);
}

void schedule_order_reachability(benchmark::State& state) { judge_schedule(state, false); }
BENCHMARK(schedule_order_reachability)
    ->Arg(200)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond);

void schedule_order_with_z3(benchmark::State& state) { judge_schedule(state, true); }
BENCHMARK(schedule_order_with_z3)->Arg(200)->Arg(1'000)->Unit(benchmark::kMillisecond);

void judge_plan(benchmark::State& state) {
  const auto c = std::make_unique<ScheduleCase>(static_cast<int32_t>(state.range(0)), true);
  smt::Prover prover;
  Context context{prover, uop::generic_target()};
  const schedule::PlanOptions how = {c->held, c->opted_in};
  const schedule::PlanSeen seen{c->s.g, c->linear, c->planned.linear, c->planned.plan, how, {}};
  for (auto _ : state) {
    for (const auto check : {linear_order, plan_order, plan_layout}) {
      const Checked checked = check(seen, context);
      if (checked.verdict.answer != Answer::Pass) state.SkipWithError("no pass");
    }
  }
}
BENCHMARK(judge_plan)->Arg(200)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::props
