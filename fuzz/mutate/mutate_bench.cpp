// How fast cases come about: made, mutated, spliced, repaired.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "fuzz/mutate/generate.h"
#include "fuzz/mutate/mutate.h"
#include "fuzz/mutate/repair.h"

namespace assay::fuzz {
namespace {

std::vector<Case> made_cases(int statements) {
  std::vector<Case> result;
  for (uint64_t seed = 0; seed < 500; seed++) {
    Choices choices(seed);
    CaseOptions options;
    options.program.statements = statements;
    result.push_back(make_case(choices, options));
  }
  return result;
}

void make_programs(benchmark::State& state) {
  uint64_t seed = 0;
  ProgramOptions options;
  options.statements = static_cast<int>(state.range(0));
  for (auto _ : state) {
    Choices choices(seed++);
    benchmark::DoNotOptimize(make_program(choices, options));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(make_programs)->Arg(5)->Arg(10);

void mutate_cases(benchmark::State& state) {
  const std::vector<Case> cases = made_cases(10);
  uint64_t seed = 0;
  for (auto _ : state) {
    Choices choices(seed);
    benchmark::DoNotOptimize(mutate(cases[seed++ % cases.size()], choices));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(mutate_cases);

void splice_cases(benchmark::State& state) {
  const std::vector<Case> cases = made_cases(10);
  uint64_t seed = 0;
  for (auto _ : state) {
    Choices choices(seed++);
    benchmark::DoNotOptimize(
        splice(cases[seed % cases.size()], cases[(seed * 7) % cases.size()], choices));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(splice_cases);

void repair_cases(benchmark::State& state) {
  const std::vector<Case> cases = made_cases(10);
  uint64_t seed = 0;
  for (auto _ : state) {
    Case c = cases[seed++ % cases.size()];
    benchmark::DoNotOptimize(repair(c.program, 4096));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(repair_cases);

}  // namespace
}  // namespace assay::fuzz
