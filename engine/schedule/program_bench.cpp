// Tensors to ordered kernels over planned memory: the twelve programs that the peer was timed on,
// each in a session of its own with an empty cache.
#include <benchmark/benchmark.h>

#include <chrono>
#include <string>
#include <vector>

#include "engine/check.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule/seed_program.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/session.h"

namespace assay::schedule {
namespace {

// Builds the program and schedules what it forces. Adds the seconds that scheduling took.
size_t schedule_program(const tensor::Program& program, double& seconds) {
  Session session;
  tensor::Builder builder(session, program);
  size_t kernels = 0;
  const auto force = [&](std::span<const Tensor* const> tensors) -> Result<bool> {
    const auto begin = std::chrono::steady_clock::now();
    const Result<Schedule> made = linear_with_vars(session, tensors);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (!made.ok()) return made.error();
    if (made.value().linear == nullptr) return true;
    seconds += spent.count();
    kernels += made.value().linear->src.size();
    return true;
  };
  const Result<bool> ran = builder.run(force);
  ASSAY_CHECK(ran.ok(), "{}", to_string(ran.error()));
  return kernels;
}

void time_programs(benchmark::State& state, const std::vector<tensor::Program>& programs) {
  size_t kernels = 0;
  for (auto _ : state) {
    double seconds = 0;
    kernels = 0;
    for (const tensor::Program& p : programs) kernels += schedule_program(p, seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["kernels"] = static_cast<double>(kernels);
}

void schedule_each(benchmark::State& state) {
  const char* name = kTimedPrograms.at(static_cast<size_t>(state.range(0)));
  state.SetLabel(name);
  time_programs(state, {seed_program(name)});
}
BENCHMARK(schedule_each)->DenseRange(0, kTimedPrograms.size() - 1)->UseManualTime();

void schedule_all(benchmark::State& state) {
  std::vector<tensor::Program> programs;
  for (const char* name : kTimedPrograms) programs.push_back(seed_program(name));
  time_programs(state, programs);
}
BENCHMARK(schedule_all)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(20)
    ->Iterations(1)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace assay::schedule
