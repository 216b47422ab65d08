// The whole loop of a campaign over random programs on the simulated device: generate, write and
// read, compile, run one interleaving, judge by the reference, cheap properties, and dear ones of
// one case in 128.
#include <benchmark/benchmark.h>

#include <array>

#include "engine/check.h"
#include "engine/heap.h"
#include "fuzz/campaign/serve.h"
#include "fuzz/coverage/coverage.h"
#include "fuzz/mutate/generate.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

const std::array<const runtime::DeviceKind*, 1> kKinds = {&workgroup::sim_kind()};
constexpr uint64_t kCases = 500;

Case case_of(uint64_t seed, int statements) {
  Choices choices(seed);
  CaseOptions how;
  how.program.statements = statements;
  how.devices = {"sim:0"};
  return make_case(choices, how);
}

void try_programs(benchmark::State& state) {
  keep_memory();
  Trial trial(campaign_trial(kKinds));
  Coverage coverage;
  int64_t failures = 0;
  uint64_t seed = 0;  // no case comes twice: what is known of equal kernels would serve
  for (auto _ : state) {
    for (const uint64_t end = seed + kCases; seed < end; ++seed) {
      const Case made = case_of(seed, static_cast<int>(state.range(0)));
      const Result<Case> c = case_from_text(to_text(made));
      const Outcome outcome = trial.run(c.value(), {}, &coverage);
      failures += std::ssize(outcome.findings);
      benchmark::DoNotOptimize(coverage.take());
    }
  }
  ASSAY_CHECK(failures == 0);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kCases));
}
BENCHMARK(try_programs)->Arg(5)->Arg(10)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::fuzz
