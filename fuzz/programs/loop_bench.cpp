// The loop over random programs: parse, build, schedule, interpret the kernels, evaluate the
// reference, compare.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "engine/check.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"
#include "fuzz/programs/program.h"
#include "oracles/check.h"
#include "oracles/choices.h"
#include "oracles/reference/reference.h"

namespace assay::fuzz {
namespace {

std::vector<std::string> programs(int statements) {
  std::vector<std::string> texts;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Choices choices(seed);
    ProgramOptions how;
    how.statements = statements;
    texts.push_back(tensor::to_text(make_program(choices, how)));
  }
  return texts;
}

void check_programs(benchmark::State& state) {
  const std::vector<std::string> texts = programs(static_cast<int>(state.range(0)));
  oracles::CheckOptions options;
  options.tensor_graph = false;
  options.planned = false;
  for (auto _ : state) {
    for (const std::string& text : texts) {
      const Result<tensor::Program> program = tensor::from_text(text);
      const oracles::Checked checked = oracles::check(program.value(), options);
      ASSAY_CHECK(checked.verdict.answer == oracles::Answer::Pass);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(texts.size()));
}
BENCHMARK(check_programs)->Arg(5)->Arg(10)->Unit(benchmark::kMillisecond);

void check_all_stages(benchmark::State& state) {
  const std::vector<std::string> texts = programs(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    for (const std::string& text : texts) {
      benchmark::DoNotOptimize(oracles::check(tensor::from_text(text).value()));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(texts.size()));
}
BENCHMARK(check_all_stages)->Arg(10)->Unit(benchmark::kMillisecond);

// Where the time of the loop goes.
void parse_programs(benchmark::State& state) {
  const std::vector<std::string> texts = programs(10);
  for (auto _ : state) {
    for (const std::string& text : texts) benchmark::DoNotOptimize(tensor::from_text(text));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(texts.size()));
}
BENCHMARK(parse_programs)->Unit(benchmark::kMillisecond);

void evaluate_reference(benchmark::State& state) {
  std::vector<tensor::Program> all;
  for (const std::string& text : programs(10)) all.push_back(tensor::from_text(text).value());
  for (auto _ : state) {
    for (const tensor::Program& p : all) benchmark::DoNotOptimize(reference::evaluate(p));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(all.size()));
}
BENCHMARK(evaluate_reference)->Unit(benchmark::kMillisecond);

void build_and_schedule(benchmark::State& state) {
  std::vector<tensor::Program> all;
  for (const std::string& text : programs(10)) all.push_back(tensor::from_text(text).value());
  for (auto _ : state) {
    for (const tensor::Program& p : all) {
      tensor::Session session;
      tensor::Builder builder(session, p);
      const auto force = [&](std::span<const tensor::Tensor* const> tensors) -> Result<bool> {
        benchmark::DoNotOptimize(schedule::linear_with_vars(session, tensors));
        return true;
      };
      benchmark::DoNotOptimize(builder.run(force));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(all.size()));
}
BENCHMARK(build_and_schedule)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::fuzz
