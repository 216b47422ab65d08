// Mistakes planted behind passes of the pipeline: the judge sees them, and blames the pass.
#include <gtest/gtest.h>

#include "engine/uop/pass.h"
#include "engine/uop/sample.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/passes/judge.h"
#include "oracles/passes/random_kernel.h"

namespace assay::oracles {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

constexpr uint64_t kPlantedSeeds = 400;

bool is_memory(Ref u) { return u->op == Op::Load || u->op == Op::Store; }

// u as a mistake would have it; u itself where none is at hand.
Ref mistaken(Graph& g, Ref u) {
  std::vector<Ref> src(u->src.begin(), u->src.end());
  if (u->op == Op::Where && src[2]->op == Op::Invalid) return src[1];
  if (is_memory(u) && src.size() == 3) {
    src.resize(u->op == Op::Load ? 1 : 2);
    return g.with_sources(u, src);
  }
  if (u->op == Op::After && src.size() > 1 && src[1]->dtype == DType::Void) {
    src.erase(src.begin() + 1);
    return g.with_sources(u, src);
  }
  if (u->op == Op::Add) return g.make(Op::Sub, u->dtype, src);
  if (u->op == Op::Max) return g.make(Op::Min, u->dtype, src);
  if (u->op == Op::Mul && uop::is_const(src[1]) && uop::is_int(u->dtype)) {
    src[1] = g.constant(u->dtype, static_cast<int64_t>(src[1]->arg.bits) + 1);
    return g.with_sources(u, src);
  }
  return u;
}

// Plants one mistake behind one pass.
class Planter : public PassJudge {
 public:
  Planter(Graph& g, Ref kernel, const KernelInputs& inputs, std::string_view pass, uint64_t seed)
      : PassJudge(g, kernel, inputs), pass_(pass), random_(seed) {}

  bool edits() const override { return true; }
  Ref edit(std::string_view stage, Graph& g, Ref root) override {
    if (stage != pass_) return root;
    std::vector<std::pair<Ref, Ref>> choices;
    for (const Ref u : uop::toposort(g, root)) {
      const Ref wrong = mistaken(g, u);
      if (wrong != u) choices.emplace_back(u, wrong);
    }
    if (choices.empty()) return root;
    const auto& [from, to] = choices[random_.below(choices.size())];
    planted_ = true;
    return uop::substitute(g, root, {{from, to}});
  }
  bool planted() const { return planted_; }

 private:
  std::string_view pass_;
  uop::Random random_;
  bool planted_ = false;
};

// Some mistakes change nothing: a sum of zero, a gate that always holds.
TEST(PlantedMistakes, AreSeenAndBlamedOnTheirPass) {
  std::vector<const uop::Pass*> passes;
  for (const uop::Pass* p : codegen::pipeline()) {
    if (p->yields.ops.has(Op::Sink)) passes.push_back(p);
  }
  if (passes.empty()) GTEST_SKIP() << "no pass leaves a kernel";
  const uop::Target& target = uop::generic_target();
  int planted = 0;
  int seen = 0;
  int blamed = 0;
  for (uint64_t seed = 0; seed < kPlantedSeeds; ++seed) {
    Graph g;
    RandomKernel random(g, seed);
    const Ref kernel = random.make();
    const auto inputs = small_inputs(g, kernel, random.variables(), seed);
    ASSERT_TRUE(inputs.ok());
    Planter planter(g, kernel, inputs.value(), passes[seed % passes.size()]->name, seed);
    uop::Run run(g, {}, &planter, target);
    (void)uop::run_passes(passes, run, kernel);
    if (!planter.planted()) continue;
    planted++;
    if (planter.verdict().answer != Answer::Fail) continue;
    seen++;
    if (planter.pass() == passes[seed % passes.size()]->name) blamed++;
  }
  EXPECT_GE(planted, static_cast<int>(kPlantedSeeds) / 2);
  EXPECT_GE(seen, planted * 2 / 3);
  EXPECT_GE(blamed, seen * 9 / 10);
}

}  // namespace
}  // namespace assay::oracles
