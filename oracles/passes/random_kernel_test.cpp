#include "oracles/passes/random_kernel.h"

#include <gtest/gtest.h>

#include "engine/codegen/forms.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/kernel.h"
#include "oracles/interpreter/lowered.h"
#include "oracles/passes/judge.h"

namespace assay::oracles {
namespace {

using uop::Graph;
using uop::Ref;

constexpr uint64_t kSeeds = 1'000;

using Bytes = std::vector<std::vector<std::byte>>;

std::vector<interpreter::Argument> arguments_of(Graph& g, Ref kernel, Bytes& bytes) {
  std::vector<interpreter::Argument> all(bytes.size());
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != uop::Op::Param) continue;
    const auto slot = static_cast<size_t>(u->arg.number());
    const auto size = static_cast<int64_t>(bytes[slot].size()) / uop::bytes_of(u->dtype);
    all[slot] = {bytes[slot], u->dtype, size, true, u->arg.number()};
  }
  return all;
}

TEST(RandomKernels, AreWhatTheScheduleLeaves) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Graph g;
    const Ref kernel = RandomKernel(g, seed).make();
    ASSERT_EQ(uop::breach(codegen::scheduled_form(), g, kernel), std::nullopt) << "seed " << seed;
  }
}

// The interpreter of scheduled kernels and that of all forms share the scalar functions only.
TEST(RandomKernels, BothInterpretersAgree) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Graph g;
    RandomKernel random(g, seed);
    const Ref kernel = random.make();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + uop::to_text(g, kernel, "kernel"));
    const auto inputs = small_inputs(g, kernel, random.variables(), seed);
    ASSERT_TRUE(inputs.ok()) << to_string(inputs.error());
    Bytes wanted = inputs.value().arguments;
    interpreter::Kernels kernels(g, random.variables());
    const auto ran = kernels.run(kernel, arguments_of(g, kernel, wanted));
    ASSERT_TRUE(ran.ok()) << to_string(ran.error());
    Bytes got = inputs.value().arguments;
    const auto also =
        interpreter::run_kernel(g, kernel, arguments_of(g, kernel, got), random.variables());
    ASSERT_TRUE(also.ok()) << to_string(also.error());
    ASSERT_EQ(got, wanted);
  }
}

// Work-items and local storage, and vectors of two and four.
uop::Target target() {
  uop::Target t = uop::generic_target();
  t.name = "random";
  t.limits.group_size = 256;
  for (int64_t& n : t.limits.item_sizes) n = 256;
  for (int64_t& n : t.limits.global_sizes) n = int64_t{1} << 31;
  t.limits.local_bytes = 32768;
  t.limits.buffers = 64;
  t.memory = uop::MemoryContract{};
  return t;
}

TEST(RandomKernels, NoPassChangesWhatOneComputes) {
  const uop::Target device = target();
  const auto passes = codegen::pipeline();
  const auto kernels = std::count_if(passes.begin(), passes.end(), [](const uop::Pass* p) {
    return p->yields.ops.has(uop::Op::Sink);
  });
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Graph g;
    RandomKernel random(g, seed);
    const Ref kernel = random.make();
    const auto inputs = small_inputs(g, kernel, random.variables(), seed);
    ASSERT_TRUE(inputs.ok()) << to_string(inputs.error());
    const PassesJudged judged = judge_passes(g, kernel, inputs.value(), device);
    ASSERT_EQ(judged.verdict.answer, Answer::Pass)
        << "seed " << seed << "\n"
        << uop::to_text(g, kernel, "kernel") << judged.verdict.evidence;
    EXPECT_EQ(judged.compared, kernels);
  }
}

}  // namespace
}  // namespace assay::oracles
