// What it costs to judge firings, passes and the end of rules.
#include <benchmark/benchmark.h>

#include "engine/runtime/rules.h"
#include "engine/uop/rules/rules.h"
#include "props/firings/passes.h"
#include "props/firings/termination.h"
#include "props/firings/test_compile.h"
#include "props/firings/test_context.h"

namespace assay::props {
namespace {

// All rules that are functions, from an empty cache.
void firings_of_all_rules(benchmark::State& state) {
  int64_t obligations = 0;
  for (auto _ : state) {
    TestContext with;
    for (const uop::RuleSet* set : runtime::all_rules()) {
      for (const uop::Rule& rule : set->rules()) {
        if (rule.by == nullptr) continue;
        obligations += check_firings(*set, rule, with.context).obligations;
      }
    }
  }
  state.counters["obligations"] =
      benchmark::Counter(static_cast<double>(obligations), benchmark::Counter::kAvgIterations);
}
BENCHMARK(firings_of_all_rules)->Unit(benchmark::kMillisecond)->Iterations(1);

// A program compiled with all firings judged (argument 1), with passes judged as well (2), or with
// nobody looking on (0).
class Everything : public FiringWatch {
 public:
  Everything(Context& context, bool passes)
      : FiringWatch(context), context_(context), passes_(passes) {}
  using FiringWatch::seen;
  void seen(const uop::PassSeen& seen) override {
    if (passes_) benchmark::DoNotOptimize(pass_keeps_meaning(seen, context_));
  }

 private:
  Context& context_;
  bool passes_;
};

void program(benchmark::State& state) {
  const auto path = std::filesystem::path(ASSAY_SOURCE_DIR) / "corpus/models/policy_head.tp";
  const std::string text = corpus_text(path);
  int64_t asked = 0;
  int64_t judged = 0;
  for (auto _ : state) {
    TestContext with;
    Everything watch(with.context, state.range(0) == 2);
    const auto done =
        compile_text(text, workgroup::sim_target(), state.range(0) > 0 ? &watch : nullptr);
    if (!done.ok()) state.SkipWithError("refused");
    asked += watch.checker().asked();
    judged += watch.checker().judged();
  }
  state.counters["firings"] =
      benchmark::Counter(static_cast<double>(asked), benchmark::Counter::kAvgIterations);
  state.counters["judged"] =
      benchmark::Counter(static_cast<double>(judged), benchmark::Counter::kAvgIterations);
}
BENCHMARK(program)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

void termination_of_symbolic_rules(benchmark::State& state) {
  for (auto _ : state) {
    TestContext with;
    benchmark::DoNotOptimize(check_termination(uop::symbolic_rules(), with.context));
  }
}
BENCHMARK(termination_of_symbolic_rules)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace assay::props
