// Kernels to OpenCL C: the twelve programs that the peer was timed on. Each kernel is copied to a
// graph of its own first, so that nothing is known of it.
#include <benchmark/benchmark.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/check.h"
#include "engine/codegen/pipeline.h"
#include "engine/heap.h"
#include "engine/render/renderer.h"
#include "engine/runtime/profiles.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule/seed_program.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/session.h"
#include "engine/uop/walk.h"
#include "engine/uop/watch.h"

namespace assay::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

using schedule::kTimedPrograms;
using schedule::seed_program;
using uop::Graph;
using uop::Ref;
using uop::Target;

// The kernels of a program, each in a graph of its own.
struct Kernels {
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<Ref> kernels;

  void add(Graph& from, Ref kernel) {
    graphs.push_back(std::make_unique<Graph>());
    kernels.push_back(uop::copy_to(*graphs.back(), from, kernel));
  }
  Kernels copied() const {
    Kernels other;
    for (size_t k = 0; k < kernels.size(); ++k) other.add(*graphs[k], kernels[k]);
    return other;
  }
};

Kernels kernels_of(const tensor::Program& program) {
  tensor::Session session;
  tensor::Builder builder(session, program);
  Kernels made;
  const auto force = [&](std::span<const tensor::Tensor* const> tensors) -> Result<bool> {
    ASSAY_TRY(s, schedule::linear_with_vars(session, tensors));
    if (s.linear == nullptr) return true;
    for (const Ref call : s.linear->src) made.add(session.graph(), call->src[0]);
    return true;
  };
  const Result<bool> ran = builder.run(force);
  ASSAY_CHECK(ran.ok(), "{}", to_string(ran.error()));
  return made;
}

// The seconds that it took from kernels to text.
double generate(const Kernels& all, size_t& bytes) {
  const Kernels fresh = all.copied();
  const Target& target = *profile("adreno-660");
  const auto begin = Clock::now();
  for (size_t k = 0; k < fresh.kernels.size(); ++k) {
    Graph& g = *fresh.graphs[k];
    uop::Run run(g, {}, nullptr, target);
    const Result<Ref> linear = codegen::lower(run, fresh.kernels[k]);
    ASSAY_CHECK(linear.ok(), "{}", to_string(linear.error()));
    const Result<render::Source> source = render::render(g, linear.value(), target);
    ASSAY_CHECK(source.ok(), "{}", to_string(source.error()));
    bytes += source.value().text.size();
  }
  return Seconds(Clock::now() - begin).count();
}

void time_kernels(benchmark::State& state, const Kernels& all) {
  keep_memory();
  size_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    state.SetIterationTime(generate(all, bytes));
  }
  state.counters["kernels"] = static_cast<double>(all.kernels.size());
  state.counters["bytes"] = static_cast<double>(bytes);
}

void codegen_each(benchmark::State& state) {
  const char* name = kTimedPrograms.at(static_cast<size_t>(state.range(0)));
  state.SetLabel(name);
  time_kernels(state, kernels_of(seed_program(name)));
}
BENCHMARK(codegen_each)->DenseRange(0, kTimedPrograms.size() - 1)->UseManualTime();

Kernels timed_kernels() {
  Kernels all;
  for (const char* name : kTimedPrograms) {
    const Kernels some = kernels_of(seed_program(name));
    for (size_t k = 0; k < some.kernels.size(); ++k) all.add(*some.graphs[k], some.kernels[k]);
  }
  return all;
}

void codegen_all(benchmark::State& state) { time_kernels(state, timed_kernels()); }
BENCHMARK(codegen_all)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(20)
    ->Iterations(1)
    ->ReportAggregatesOnly();

// Where the time goes: by pass, over all kernels.
class PassClock : public uop::Watch {
 public:
  using Watch::seen;
  void seen(const uop::PassSeen& seen) override {
    spent[std::string(seen.pass.name)] += Seconds(Clock::now() - last_).count();
    last_ = Clock::now();
  }
  void start() { last_ = Clock::now(); }

  std::map<std::string, double> spent;

 private:
  Clock::time_point last_;
};

// Microseconds a pass, of all kernels. Specs are checked where somebody watches, so that is part of
// it.
void codegen_passes(benchmark::State& state) {
  keep_memory();
  const Kernels all = timed_kernels();
  for (auto _ : state) {
    PassClock clock;
    const Kernels fresh = all.copied();
    for (size_t k = 0; k < fresh.kernels.size(); ++k) {
      uop::Run run(*fresh.graphs[k], {}, &clock, *profile("adreno-660"));
      clock.start();
      ASSAY_CHECK(codegen::lower(run, fresh.kernels[k]).ok());
    }
    for (const auto& [pass, seconds] : clock.spent) state.counters[pass] = seconds * 1e6;
  }
}
BENCHMARK(codegen_passes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::runtime
