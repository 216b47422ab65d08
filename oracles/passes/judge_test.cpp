#include "oracles/passes/judge.h"

#include <gtest/gtest.h>

#include "engine/codegen/forms.h"
#include "engine/uop/pass.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"

// Passes that are wrong in one way each, and what the judge says of them.
namespace assay::oracles {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Pass;
using uop::Ref;

// out[i] = the sum over j of a[4 i + j]
constexpr std::string_view kKernel = R"(uop 1 scheduled
%c3 = const index 3
%c4 = const index 4
%c12 = const index 12
%out = param f32 %c3 {0}
%a = param f32 %c12 {1}
%i = range index %c3 {0 weak}
%j = range index %c4 {1 reduce}
%i4 = mul index %i %c4
%at = add index %i4 %j
%x = index f32 %a %at
%s = reduce f32 %x %j {add 0}
%to = index f32 %out %i
%st = store void %to %s
%e = end void %st %i
%k = sink void %e {"r_3_4"}
)";

Ref find(Graph& g, Ref root, Op op) {
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op == op) return u;
  }
  return nullptr;
}
Ref with(uop::Run& run, Ref root, Ref from, Ref to) {
  return uop::substitute(run.graph(), root, {{from, to}});
}

// The sum from its last term to its first.
Result<Ref> turn(uop::Run& run, Ref root) {
  Graph& g = run.graph();
  const Ref add = find(g, root, Op::Add);
  const Ref three = g.constant(DType::Index, 3);
  const Ref back = g.alu(Op::Sub, {three, add->src[1]});
  return with(run, root, add, g.alu(Op::Add, {add->src[0], back}));
}
// A product in the place of the sum.
Result<Ref> multiply(uop::Run& run, Ref root) {
  Graph& g = run.graph();
  const Ref sum = find(g, root, Op::Reduce);
  return with(run, root, sum, g.make(Op::Reduce, sum->dtype, sum->src, uop::Arg::fold(Op::Mul, 0)));
}
// One element further on.
Result<Ref> shift(uop::Run& run, Ref root) {
  Graph& g = run.graph();
  const Ref add = find(g, root, Op::Add);
  const Ref one = g.constant(DType::Index, 1);
  return with(run, root, add, g.alu(Op::Add, {add, one}));
}
// Each sum a little off.
Result<Ref> scale(uop::Run& run, Ref root) {
  Graph& g = run.graph();
  const Ref sum = find(g, root, Op::Reduce);
  const Ref more = g.constant(uop::of_double(DType::F32, 1.000001));
  return with(run, root, sum, g.alu(Op::Mul, {sum, more}));
}
// What belongs to a later form.
Result<Ref> wait(uop::Run& run, Ref root) {
  const Ref store = find(run.graph(), root, Op::Store);
  const Ref barrier = run.graph().make(Op::Barrier, DType::Void, {store});
  return with(run, root, store, barrier);
}
Result<Ref> refuse(uop::Run& /*run*/, Ref /*root*/) { return Error{"no such device"}; }

using Function = Result<Ref> (*)(uop::Run&, Ref);
Pass pass(std::string_view name, Function function) {
  return {name, codegen::scheduled_form(), codegen::scheduled_form(), {}, {}, function};
}

PassesJudged judge(std::span<const Pass* const> passes, Tolerance tolerance = {}) {
  Graph g;
  const auto parsed = uop::from_text(g, kKernel);
  EXPECT_TRUE(parsed.ok());
  const auto inputs = small_inputs(g, parsed.value().root, {}, 1);
  EXPECT_TRUE(inputs.ok());
  return judge_passes(g, parsed.value().root, inputs.value(), uop::generic_target(), tolerance,
                      passes);
}

TEST(PassJudge, PassesWhatKeepsTheResult) {
  const Pass a = pass("turn", turn);
  const PassesJudged judged = judge(std::vector<const Pass*>{&a, &a});
  EXPECT_EQ(judged.verdict.answer, Answer::Pass);
  EXPECT_EQ(judged.verdict.evidence, "2 passes keep what the kernel computes");
  EXPECT_EQ(judged.compared, 2);
}

TEST(PassJudge, BlamesTheFirstPassThatChangesTheResult) {
  const Pass a = pass("turn", turn);
  const Pass b = pass("multiply", multiply);
  const PassesJudged judged = judge(std::vector<const Pass*>{&a, &b, &a});
  EXPECT_EQ(judged.verdict.answer, Answer::Fail);
  EXPECT_EQ(judged.pass, "multiply");
  EXPECT_EQ(judged.compared, 2);
  EXPECT_EQ(judged.verdict.evidence.substr(0, judged.verdict.evidence.find('\n')),
            "after multiply: element 0 of argument 0 is 0.0, as scheduled -2.0");
}

TEST(PassJudge, BlamesAPassThatReadsOutsideABuffer) {
  const Pass a = pass("shift", shift);
  const PassesJudged judged = judge(std::vector<const Pass*>{&a});
  EXPECT_EQ(judged.verdict.answer, Answer::Fail);
  EXPECT_EQ(
      judged.verdict.evidence.substr(0, judged.verdict.evidence.find('\n')),
      "after shift: reads element 12 of argument 1 (buffer 1), which holds 12, at range 0 = 2");
}

TEST(PassJudge, BlamesAPassThatBreaksItsSpec) {
  const Pass a = pass("wait", wait);
  const PassesJudged judged = judge(std::vector<const Pass*>{&a});
  EXPECT_EQ(judged.verdict.answer, Answer::Fail);
  EXPECT_EQ(judged.pass, "wait");
}

TEST(PassJudge, LetsFloatsDifferAsFarAsItIsTold) {
  const Pass a = pass("scale", scale);
  const std::vector<const Pass*> passes = {&a};
  EXPECT_EQ(judge(passes).verdict.answer, Answer::Fail);
  EXPECT_EQ(judge(passes, {.ulps = 4}).verdict.answer, Answer::Fail);
  EXPECT_EQ(judge(passes, {.ulps = 16}).verdict.answer, Answer::Pass);
}

TEST(PassJudge, KnowsNothingOfWhatAPassRefuses) {
  const Pass a = pass("refuse", refuse);
  const PassesJudged judged = judge(std::vector<const Pass*>{&a});
  EXPECT_EQ(judged.verdict.answer, Answer::Unknown);
  EXPECT_EQ(judged.verdict.evidence, "no such device");
}

}  // namespace
}  // namespace assay::oracles
