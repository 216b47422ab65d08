// What a question costs, by who decides it.
#include <benchmark/benchmark.h>

#include "oracles/smt/canonical.h"
#include "oracles/smt/prover.h"

namespace assay::smt {
namespace {

// Do two of 64 x 64 work-items store to one element of rows of `stride`?
Formula same_element(int stride) {
  Formula f;
  const auto index = [&](const char* x, const char* y) {
    const Term row = f.bounded(x, 0, 63);
    const Term column = f.bounded(y, 0, 63);
    const Term start = f.mul(row, f.integer(stride));
    return f.add(start, column);
  };
  const Term a = index("ax", "ay");
  const Term b = index("bx", "by");
  const Term before = f.lt(f.variable("ax", kInt), f.variable("bx", kInt));
  f.require(before);
  f.require(f.equal(a, b));
  return f;
}

void BM_canonical(benchmark::State& state) {
  const Formula f = same_element(64);
  for (auto _ : state) benchmark::DoNotOptimize(canonical(f));
}
BENCHMARK(BM_canonical)->Unit(benchmark::kMicrosecond);

void BM_from_cache(benchmark::State& state) {
  Prover prover;
  const Formula f = same_element(64);
  prover.decide(f, "race");
  for (auto _ : state) benchmark::DoNotOptimize(prover.decide(f, "race"));
}
BENCHMARK(BM_from_cache)->Unit(benchmark::kMicrosecond);

// Each question differs from those before, so that no cache knows it.
void decide_new(benchmark::State& state, const ProverOptions& options) {
  Prover prover(options);
  int stride = 64;
  for (auto _ : state) benchmark::DoNotOptimize(prover.decide(same_element(stride++), "race"));
}
void BM_z3(benchmark::State& state) { decide_new(state, {.asks_z3 = true}); }
void BM_z3_and_cvc5(benchmark::State& state) {
  decide_new(state, {.is_doubled = true, .asks_z3 = true});
}
BENCHMARK(BM_z3)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_z3_and_cvc5)->Unit(benchmark::kMillisecond);

void BM_enumeration(benchmark::State& state) {
  int n = 0;
  Prover prover;
  for (auto _ : state) {
    Formula f;
    const Term x = f.bounded("x", 0, 255);
    const Term y = f.bounded("y", 0, 1023);
    const Term rest = f.make(Fn::Mod, {y, f.integer(7)});
    const Term all = f.add(f.mul(x, f.integer(8)), rest);
    f.require(f.equal(all, f.integer(--n)));
    benchmark::DoNotOptimize(prover.decide(f, "points"));
  }
  state.SetItemsProcessed(state.iterations() << 18);
}
BENCHMARK(BM_enumeration)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::smt
