// Kernels of random programs, by random lists, are proved: no false alarm, and hardly anything is
// unknown. ASSAY_PROGRAMS says of how many programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "engine/codegen/pipeline.h"
#include "engine/schedule/linear.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/text.h"
#include "fuzz/programs/program.h"
#include "fuzz/programs/random_lists.h"
#include "oracles/workgroup/sim.h"
#include "props/kernel/kernel_props.h"

namespace assay::fuzz {
namespace {

using props::Answer;

struct NamedKernelCheck {
  std::string_view name;
  props::Check<codegen::KernelSeen> check;
};
constexpr NamedKernelCheck kKernelChecks[] = {
    {"kernel_races", props::kernel_races},   {"kernel_barriers", props::kernel_barriers},
    {"kernel_bounds", props::kernel_bounds}, {"kernel_alignment", props::kernel_alignment},
    {"kernel_stores", props::kernel_stores}, {"kernel_reads", props::kernel_reads}};

// Judges each kernel that it is shown.
class KernelProver : public RandomLists {
 public:
  KernelProver(const uop::Target& target, uint64_t seed, smt::Prover& prover)
      : RandomLists(target, seed), context_{prover, target} {}

  using RandomLists::seen;
  void seen(const codegen::KernelSeen& seen) override {
    RandomLists::seen(seen);
    for (const NamedKernelCheck& c : kKernelChecks) {
      const props::Checked checked = c.check(seen, context_);
      obligations += checked.obligations;
      unknown += checked.unknown;
      for (const auto& [cause, times] : checked.by_cause) causes[cause] += times;
      EXPECT_NE(checked.verdict.answer, Answer::Fail)
          << c.name << ": " << checked.verdict.evidence << "\n"
          << uop::to_text(seen.graph, seen.linear, "linear");
    }
  }

  int64_t obligations = 0;
  int64_t unknown = 0;
  std::map<std::string, int64_t> causes;

 private:
  props::Context context_;
};

TEST(KernelProofs, HoldOfRandomPrograms) {
  const char* wanted = std::getenv("ASSAY_PROGRAMS");
  const uint64_t programs = wanted == nullptr ? 200 : std::strtoull(wanted, nullptr, 10);
  const uop::Target& target = workgroup::sim_target();
  smt::Prover prover;
  int64_t obligations = 0;
  int64_t unknown = 0;
  int kernels = 0;
  std::map<std::string, int64_t> causes;
  for (uint64_t seed = 0; seed < programs; ++seed) {
    Choices choices(seed);
    ProgramOptions how;
    how.statements = 1 + static_cast<int>(seed % 30);
    const tensor::Program program = make_program(choices, how);
    tensor::Session session;
    tensor::Builder builder(session, program);
    KernelProver judge(target, seed, prover);
    const auto ran = builder.run([&](std::span<const tensor::Tensor* const> t) -> Result<bool> {
      ASSAY_TRY(made, schedule::linear_with_vars(session, t));
      for (size_t i = 0; made.linear != nullptr && i < made.linear->src.size(); ++i) {
        const uop::Ref call = made.linear->src[i];
        if (schedule::is_copy(call)) continue;
        uop::Run run(session.graph(), {}, &judge, target);
        const Result<uop::Ref> linear = codegen::lower(run, call->src[0]);
        if (!linear.ok()) continue;
      }
      return true;
    });
    EXPECT_TRUE(ran.ok()) << seed << ": " << to_string(ran.error());
    obligations += judge.obligations;
    unknown += judge.unknown;
    kernels += judge.kernels;
    for (const auto& [cause, times] : judge.causes) causes[cause] += times;
    if (HasFailure()) FAIL() << "seed " << seed << "\n" << tensor::to_text(program);
  }
  std::printf("%d kernels, %lld obligations, %lld unknown:", kernels,
              static_cast<long long>(obligations), static_cast<long long>(unknown));
  for (const auto& [cause, times] : causes)
    std::printf(" %s %lld", cause.c_str(), static_cast<long long>(times));
  std::printf("\n");
  EXPECT_GT(obligations, 0);
  EXPECT_LE(unknown * 200, obligations);
}

}  // namespace
}  // namespace assay::fuzz
