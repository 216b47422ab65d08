// What the properties of kernels cost, an item an obligation.
#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "engine/codegen/pipeline.h"
#include "engine/codegen/random_opts.h"
#include "engine/schedule/linear.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/workgroup/sim.h"
#include "props/kernel/kernel_props.h"

namespace assay::props {
namespace {

// The lists of a saved program, by random lists of opts, which share LOCAL storage where they can.
struct LoweredProgram {
  struct Kernel {
    uop::Ref scheduled;
    uop::Ref linear;
  };
  uop::Graph graph;
  std::vector<Kernel> kernels;
};

void lower_program(const std::string& path, LoweredProgram& out) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<tensor::Program> program = tensor::from_text(text);
  if (!program.ok()) return;
  tensor::Session session;
  tensor::Builder builder(session, program.value());
  uop::Random random(1);
  const auto made = builder.run([&](std::span<const tensor::Tensor* const> t) -> Result<bool> {
    ASSAY_TRY(scheduled, schedule::linear_with_vars(session, t));
    for (size_t i = 0; scheduled.linear != nullptr && i < scheduled.linear->src.size(); i++) {
      const uop::Ref call = scheduled.linear->src[i];
      if (schedule::is_copy(call)) continue;
      uop::Run run(session.graph(), {}, nullptr, workgroup::sim_target());
      ASSAY_TRY(kernel, codegen::with_random_opts(run, call->src[0], random));
      ASSAY_TRY(linear, codegen::lower(run, kernel));
      const uop::Ref scheduled_kernel = uop::copy_to(out.graph, session.graph(), call->src[0]);
      out.kernels.push_back({scheduled_kernel, uop::copy_to(out.graph, session.graph(), linear)});
    }
    return true;
  });
  if (!made.ok()) out.kernels.clear();
}

void judge_program(benchmark::State& state, const char* name, Check<codegen::KernelSeen> check) {
  LoweredProgram program;
  lower_program(std::string(ASSAY_SOURCE_DIR "/corpus/") + name, program);
  smt::Prover prover;
  Context context = {prover, workgroup::sim_target()};
  int64_t obligations = 0;
  for (auto _ : state) {
    for (const LoweredProgram::Kernel& k : program.kernels) {
      const Checked checked = check({program.graph, k.scheduled, k.linear}, context);
      obligations += checked.obligations;
      if (checked.verdict.answer != Answer::Pass) state.SkipWithError("not proved");
    }
  }
  state.SetItemsProcessed(obligations);
}

#define KERNEL_BENCH(check)                                                                   \
  BENCHMARK_CAPTURE(judge_program, check##_attention, "seeds/program/attention.tp", check)    \
      ->Unit(benchmark::kMicrosecond);                                                        \
  BENCHMARK_CAPTURE(judge_program, check##_driving_vision, "models/driving_vision.tp", check) \
      ->Unit(benchmark::kMicrosecond)
KERNEL_BENCH(kernel_races);
KERNEL_BENCH(kernel_barriers);
KERNEL_BENCH(kernel_bounds);
KERNEL_BENCH(kernel_stores);
KERNEL_BENCH(kernel_alignment);
KERNEL_BENCH(kernel_spare_barriers);
#undef KERNEL_BENCH

}  // namespace
}  // namespace assay::props
