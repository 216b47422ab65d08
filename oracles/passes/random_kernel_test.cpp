#include "oracles/passes/random_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engine/codegen/forms.h"
#include "engine/uop/scope.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/kernel.h"
#include "oracles/interpreter/lowered.h"
#include "oracles/passes/judge.h"

namespace assay::oracles {
namespace {

using uop::DType;
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
    all[slot] = {bytes[slot], u->dtype, size, false, u->arg.number()};
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

struct Counts {
  int wrong = 0;
  int unknown = 0;
  std::string first;
};

// A kernel of this seed, through all passes.
void judge(uint64_t seed, bool functions, Counts& counts) {
  static const uop::Target device = random_target();
  const auto passes = codegen::pipeline();
  const auto kernels = std::count_if(passes.begin(), passes.end(), [](const uop::Pass* p) {
    return p->yields.ops.has(uop::Op::Sink);
  });
  Graph g;
  RandomKernel random(g, seed, functions);
  const Ref kernel = random.make();
  const auto inputs = small_inputs(g, kernel, random.variables(), seed);
  ASSERT_TRUE(inputs.ok()) << to_string(inputs.error());
  const Tolerance tolerance = {.ulps = functions ? 256.0 : 0.0,
                               .most = static_cast<double>(random.most())};
  const PassesJudged judged = judge_passes(g, kernel, inputs.value(), device, tolerance);
  if (judged.verdict.answer == Answer::Pass) {
    EXPECT_EQ(judged.compared, kernels);
    return;
  }
  if (judged.verdict.answer == Answer::Unknown) counts.unknown++;
  if (judged.verdict.answer == Answer::Fail) counts.wrong++;
  if (!counts.first.empty()) return;
  counts.first = "seed " + std::to_string(seed) + "\n" + uop::to_text(g, kernel, "kernel") +
                 judged.verdict.evidence;
}

TEST(RandomKernels, NoPassChangesWhatOneComputes) {
  for (const bool functions : {false, true}) {
    Counts counts;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) judge(seed, functions, counts);
    EXPECT_EQ(counts.wrong, 0) << counts.first;
    EXPECT_EQ(counts.unknown, 0) << counts.first;
  }
}

// One node of a kernel is another one: another operation, or an index without its gate.
Result<Ref> spoil(uop::Run& run, Ref root) {
  Graph& g = run.graph();
  uop::Random random(run.graph().size());
  std::vector<std::pair<Ref, Ref>> choices;
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op == uop::Op::Index && u->src[1]->op == uop::Op::Where)
      choices.emplace_back(u->src[1], u->src[1]->src[1]);
    if (u->op == uop::Op::Add) choices.emplace_back(u, g.make(uop::Op::Sub, u->dtype, u->src));
    if (u->op == uop::Op::Max) choices.emplace_back(u, g.make(uop::Op::Min, u->dtype, u->src));
    if (u->op == uop::Op::Reduce && u->arg.fold_op() == uop::Op::Max) {
      const auto arg = uop::Arg::fold(uop::Op::Min, 0);
      choices.emplace_back(u, g.make(u->op, u->dtype, u->src, arg));
    }
  }
  if (choices.empty()) return root;
  const auto& [from, to] = choices[random.below(choices.size())];
  return uop::substitute(g, root, {{from, to}});
}

TEST(RandomKernels, ShowWhatIsSpoilt) {
  static const uop::Pass pass = {
      "spoil", codegen::scheduled_form(), codegen::scheduled_form(), {}, {}, spoil};
  const std::vector<const uop::Pass*> passes = {&pass};
  int spoilt = 0;
  int caught = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Graph g;
    RandomKernel random(g, seed);
    const Ref kernel = random.make();
    const auto inputs = small_inputs(g, kernel, random.variables(), seed);
    ASSERT_TRUE(inputs.ok());
    const size_t nodes = g.size();
    const PassesJudged judged =
        judge_passes(g, kernel, inputs.value(), uop::generic_target(), {}, passes);
    if (g.size() == nodes) continue;
    spoilt++;
    if (judged.verdict.answer == Answer::Fail) caught++;
  }
  EXPECT_GE(spoilt, static_cast<int>(kSeeds) * 7 / 10);
  EXPECT_GE(caught, spoilt * 3 / 4) << spoilt;
}

// A generator that has stopped making something tests nothing of it.
TEST(RandomKernels, AreOfEveryKind) {
  std::map<std::string, int> of;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Graph g;
    RandomKernel random(g, seed);
    const auto nodes = uop::toposort(g, random.make());
    std::map<std::string, int> here;
    int folds = 0;
    for (const Ref u : nodes) {
      here[std::string(uop::to_text(u->op))] = 1;
      here[std::string(uop::to_text(u->dtype))] = 1;
      if (u->op != uop::Op::Reduce) continue;
      folds++;
      for (const Ref r : uop::ranges(g, u)) {
        if (r->arg.axis_type() == uop::AxisType::Reduce) here["nested"] = 1;
      }
    }
    here["folds"] = folds > 1 ? 1 : 0;
    for (const auto& [name, count] : here) of[name] += count;
  }
  for (const char* name : {"reduce", "nested", "folds", "invalid", "where", "var", "mod", "range",
                           "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "mul", "cast"}) {
    EXPECT_GE(of[name], static_cast<int>(kSeeds / 25)) << name;
  }
}

}  // namespace
}  // namespace assay::oracles
