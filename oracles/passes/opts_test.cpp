// A list of opts changes what a kernel is made of, never what it computes.
#include <gtest/gtest.h>

#include "engine/codegen/opt.h"
#include "engine/codegen/pipeline.h"
#include "engine/codegen/random_opts.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/passes/judge.h"
#include "oracles/passes/random_kernel.h"

namespace assay::oracles {
namespace {

using codegen::OptKind;
using uop::Graph;
using uop::Ref;

constexpr uint64_t kOptSeeds = 1'000;

// Half of the lists are of the kernel as it comes, half of what the early passes leave of it.
TEST(RandomOpts, LeaveWhatAKernelComputes) {
  const uop::Target device = random_target();
  for (uint64_t seed = 0; seed < kOptSeeds; ++seed) {
    Graph g;
    RandomKernel random(g, seed);
    const Ref kernel = random.make();
    uop::Random numbers(seed);
    uop::Run run(g, {}, nullptr, device);
    Result<Ref> listed = codegen::with_random_opts(run, kernel, numbers);
    if (seed % 2 == 0) {
      const auto opts = codegen::random_opts(g, device, kernel, numbers);
      ASSERT_TRUE(opts.ok()) << to_string(opts.error());
      listed = codegen::with_opts(g, kernel, opts.value());
    }
    ASSERT_TRUE(listed.ok()) << to_string(listed.error());
    const auto inputs = small_inputs(g, kernel, random.variables(), seed);
    ASSERT_TRUE(inputs.ok()) << to_string(inputs.error());
    const PassesJudged judged = judge_passes(g, listed.value(), inputs.value(), device);
    ASSERT_EQ(judged.verdict.answer, Answer::Pass)
        << "seed " << seed << "\n"
        << uop::to_text(g, listed.value(), "kernel") << judged.verdict.evidence;
  }
}

TEST(EarlyPasses, LeaveAKernelAloneThatHasAList) {
  for (uint64_t seed = 0; seed < kOptSeeds / 10; ++seed) {
    Graph g;
    uop::Run run(g);
    const Ref kernel = codegen::with_opts(g, RandomKernel(g, seed).make(), {});
    const Result<Ref> after = uop::run_passes(codegen::early_passes(), run, kernel);
    ASSERT_TRUE(after.ok()) << to_string(after.error());
    ASSERT_EQ(after.value(), kernel);
  }
}

TEST(RandomOpts, AreTheSameForTheSameSeed) {
  const uop::Target device = random_target();
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto list = [&] {
      Graph g;
      uop::Random numbers(seed);
      const Ref kernel = RandomKernel(g, seed).make();
      return codegen::to_text(codegen::random_opts(g, device, kernel, numbers).value());
    };
    EXPECT_EQ(list(), list());
  }
}

// Programs know the words of opts without the engine's table of them.
TEST(Hints, HaveEveryOpt) {
  for (int i = 0; i < codegen::kOptKinds; ++i) {
    const std::string opt = codegen::to_text(codegen::Opt{static_cast<OptKind>(i), 1, 2});
    const auto program = tensor::from_text("tp 1\nkernel 0: " + opt + " " + opt + "\n");
    ASSERT_TRUE(program.ok()) << to_string(program.error());
    const auto opts = codegen::opts_from_text(program.value().hints[0].opts);
    ASSERT_TRUE(opts.ok()) << to_string(opts.error());
    EXPECT_EQ(codegen::to_text(opts.value()), opt + " " + opt);
  }
}

// How often each kind of opt is drawn, and how often several of one kind.
TEST(RandomOpts, DrawAllKinds) {
  const uop::Target device = random_target();
  std::array<int, codegen::kOptKinds> kernels_with{};
  int shared = 0;
  int folding = 0;
  for (uint64_t seed = 0; seed < kOptSeeds; ++seed) {
    Graph g;
    RandomKernel random(g, seed);
    const Ref kernel = random.make();
    uop::Random numbers(seed);
    const auto opts = codegen::random_opts(g, device, kernel, numbers).value();
    std::array<bool, codegen::kOptKinds> has{};
    for (const codegen::Opt& opt : opts) has[static_cast<size_t>(opt.kind)] = true;
    for (size_t i = 0; i < has.size(); ++i) kernels_with[i] += has[i] ? 1 : 0;
    const bool folds = std::ranges::any_of(uop::toposort(g, kernel),
                                           [](Ref u) { return u->op == uop::Op::Reduce; });
    folding += folds ? 1 : 0;
    shared += folds && (has[static_cast<size_t>(OptKind::Group)] ||
                        has[static_cast<size_t>(OptKind::GroupTop)])
                  ? 1
                  : 0;
  }
  for (size_t i = 0; i < kernels_with.size(); ++i) {
    EXPECT_GT(kernels_with[i], static_cast<int>(kOptSeeds) / 50)
        << codegen::info(static_cast<OptKind>(i)).text;
  }
  EXPECT_GT(shared, folding * 2 / 3);
}

}  // namespace
}  // namespace assay::oracles
