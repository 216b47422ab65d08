#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "engine/schedule/extension.h"
#include "engine/schedule/order.h"
#include "engine/schedule/plan.h"
#include "engine/schedule/sample_graph.h"
#include "engine/schedule/sample_plan.h"

namespace assay::schedule {
namespace {

// Kernels that each change one of the buffers, in turn, and read two others as they are then.
History turns(int32_t kernels, int32_t buffers) {
  History h;
  std::vector<int32_t> last;
  for (int32_t b = 0; b < buffers; b++) last.push_back(h.start(b));
  for (int32_t k = 0; k < kernels; k++) {
    int32_t& target = last[static_cast<size_t>(k % buffers)];
    const int32_t over[] = {target};
    const int32_t reads[] = {target, last[static_cast<size_t>((k * 7 + 1) % buffers)],
                             last[static_cast<size_t>((k * 13 + 2) % buffers)]};
    const int32_t kernel[] = {h.kernel(over, reads)};
    target = h.version(target, kernel);
  }
  return h;
}

// All kernels write to one buffer or read it: a write, then so many readers of that version.
History one_buffer(int32_t kernels, int32_t readers) {
  History h;
  int32_t shared = h.start(0);
  int32_t buffers = 1;
  for (int32_t k = 0; k < kernels; k++) {
    const int32_t over[] = {k % (readers + 1) == 0 ? shared : h.start(buffers++)};
    const int32_t reads[] = {shared};
    const int32_t kernel[] = {h.kernel(over, reads)};
    const int32_t made = h.version(over[0], kernel);
    if (over[0] == shared) shared = made;
  }
  return h;
}

void order(benchmark::State& state, const History& h) {
  while (state.KeepRunning()) {
    const auto dependencies = h.dependencies();
    benchmark::DoNotOptimize(linear_extension(h.kernels(), dependencies));
  }
}

void order_100_buffers(benchmark::State& state) {
  order(state, turns(static_cast<int32_t>(state.range(0)), 100));
}
BENCHMARK(order_100_buffers)->Arg(10'000)->Arg(20'000)->Unit(benchmark::kMillisecond);

void order_one_buffer(benchmark::State& state) {
  order(state, one_buffer(10'000, static_cast<int32_t>(state.range(0))));
}
BENCHMARK(order_one_buffer)->Arg(0)->Arg(1)->Arg(99)->Arg(9'998)->Unit(benchmark::kMillisecond);

// From a kernel graph to its LINEAR.
void create_schedule_100_buffers(benchmark::State& state) {
  const auto kernels = static_cast<int32_t>(state.range(0));
  while (state.KeepRunning()) {
    state.PauseTiming();
    auto s = std::make_unique<SampleGraph>();
    std::vector<Ref> last;
    for (int b = 0; b < 100; b++) last.push_back(s->buffer(4));
    const Ref body = s->sum_kernel("sum", 2, true);
    for (int32_t k = 0; k < kernels; k++) {
      Ref& target = last[static_cast<size_t>(k % 100)];
      const Ref x = last[static_cast<size_t>((k * 7 + 1) % 100)];
      const Ref y = last[static_cast<size_t>((k * 13 + 2) % 100)];
      target = s->after(target, {s->call(body, {target, x, y})});
    }
    const Ref sink = s->g.make(uop::Op::Sink, uop::Void, last);
    state.ResumeTiming();
    benchmark::DoNotOptimize(create_schedule(s->g, sink).ok());
    state.PauseTiming();
    s.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(create_schedule_100_buffers)->Arg(10'000)->Arg(20'000)->Unit(benchmark::kMillisecond);

void plan(benchmark::State& state) {
  const auto calls = static_cast<int32_t>(state.range(0));
  Choices choose(numbers_of(1, static_cast<size_t>(calls) * 10));
  const SamplePlan s = sample_plan(choose, calls);
  double ratio = 0;
  while (state.KeepRunning()) {
    const auto made = plan_memory(s.buffers, s.calls, s.edges);
    const PlannedArena& arena = made.value().arenas[0];
    ratio = static_cast<double>(arena.size) / static_cast<double>(arena.lower_bound);
  }
  state.counters["of_lower_bound"] = ratio;
}
BENCHMARK(plan)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

// All buffers live at once: pairs are many.
void plan_all_at_once(benchmark::State& state) {
  const auto calls = static_cast<int32_t>(state.range(0));
  SamplePlan s;
  for (int32_t k = 0; k < calls; k++) {
    s.buffers.push_back({0, static_cast<uint64_t>(1 + k % 77) * 300, false});
    s.calls.push_back({{k}, false});
  }
  for (int32_t k = 0; k < calls; k++) s.calls.push_back({{calls - 1 - k}, false});
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(plan_memory(s.buffers, s.calls, s.edges).ok());
  }
}
BENCHMARK(plan_all_at_once)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::schedule
