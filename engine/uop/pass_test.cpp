#include "engine/uop/pass.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/uop/rules/rules.h"
#include "engine/uop/simplify.h"

namespace assay::uop {
namespace {

const Spec& no_division() {
  static const Spec spec = {
      "no division", OpSet::all() - OpSet{Op::Div, Op::Mod}, {&well_formed(), &fixed_width()}};
  return spec;
}

Ref shift_for_division(Run& run, Ref root) {
  Graph& g = run.graph();
  const Ref one = g.constant(root->dtype, 1);
  return g.alu(Op::Shr, {root->src[0], one});
}
Result<Ref> lower(Run& run, Ref root) { return shift_for_division(run, root); }
Result<Ref> leave(Run&, Ref root) { return root; }
Result<Ref> give_up(Run&, Ref) { return Error{"this pass never ends", 0, 0}; }

Pass pass_of(Result<Ref> (*function)(Run&, Ref)) {
  return {.name = "lower_division",
          .accepts = graph_spec(),
          .yields = no_division(),
          .rules = {},
          .function = function};
}

Ref half(Graph& g) {
  const Ref x = g.variable("x", of_int(I32, 0), of_int(I32, 9));
  return g.alu(Op::Div, {x, g.constant(I32, 2)});
}

class Seen : public Watch {
 public:
  using Watch::seen;
  bool edits() const override { return true; }
  Ref edit(std::string_view stage, Graph& g, Ref u) override {
    edited.emplace_back(stage);
    return replacement != nullptr ? replacement : Watch::edit(stage, g, u);
  }
  void seen(const PassSeen& seen) override {
    passes.push_back(std::string(seen.pass.name));
    breaches.push_back(seen.breach.value_or(""));
    firings += seen.firings;
    changed = changed || seen.before != seen.after;
  }
  Ref replacement = nullptr;
  std::vector<std::string> edited, passes, breaches;
  uint64_t firings = 0;
  bool changed = false;
};

TEST(Spec, ImpliesWhatAsksForLess) {
  EXPECT_TRUE(implies(no_division(), graph_spec()));
  EXPECT_TRUE(implies(term_spec(), graph_spec()));
  EXPECT_TRUE(implies(graph_spec(), graph_spec()));
  EXPECT_FALSE(implies(graph_spec(), no_division()));
  const Spec same_ops = {"same operations", no_division().ops, {&well_formed()}};
  EXPECT_FALSE(implies(same_ops, no_division()));
}

TEST(Spec, NamesWhatBreaksIt) {
  Graph g;
  EXPECT_EQ(breach(graph_spec(), g, half(g)), std::nullopt);
  EXPECT_EQ(breach(no_division(), g, half(g)), "no division: %2 = div does not belong here");
  const Ref index = g.variable("i", Index);
  EXPECT_EQ(breach(no_division(), g, index),
            "no division: not of fixed width: %0 = var has type index");
  const Ref bad = g.make(Op::Add, I32, {index});
  EXPECT_EQ(breach(term_spec(), g, bad),
            "term: not well formed: %1 = add: add takes 2 sources, found 1");
}

// Sizes are constants that nothing computes with; where a part begins is computed.
TEST(Spec, LetsSizesKeepTypeIndex) {
  Graph g;
  const Ref eight = g.constant(Index, 8);
  const Ref x = g.make(Op::Param, F32, {eight}, Arg::number(0));
  const Ref narrow = g.make(Op::Shrink, F32, {x, g.constant(I32, 4), g.constant(Index, 2)});
  EXPECT_EQ(breach(no_division(), g, narrow), std::nullopt);
  const Ref wide = g.make(Op::Shrink, F32, {x, g.constant(Index, 4), g.constant(Index, 2)});
  EXPECT_EQ(breach(no_division(), g, wide),
            "no division: not of fixed width: source 1 of %4 = shrink has type index");
  const Ref symbolic = g.make(Op::Param, F32, {g.variable("n", Index)}, Arg::number(0));
  EXPECT_EQ(breach(no_division(), g, symbolic),
            "no division: not of fixed width: %0 = var has type index");
}

TEST(Pass, ShowsWhatItDid) {
  Graph g;
  Seen seen;
  uop::Run run(g, {}, &seen);
  const Result<Ref> after = run_pass(pass_of(lower), run, half(g));
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after.value()->op, Op::Shr);
  EXPECT_EQ(seen.edited, std::vector<std::string>{"lower_division"});
  EXPECT_EQ(seen.passes, std::vector<std::string>{"lower_division"});
  EXPECT_EQ(seen.breaches, std::vector<std::string>{""});
  EXPECT_TRUE(seen.changed);
}

TEST(Pass, ReportsABreachToWhoWatches) {
  Graph g;
  Seen seen;
  uop::Run run(g, {}, &seen);
  const Result<Ref> after = run_pass(pass_of(leave), run, half(g));
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(seen.breaches, std::vector<std::string>{"no division: %2 = div does not belong here"});
}

TEST(Pass, LetsTheWatchPutAnotherGraphInItsPlace) {
  Graph g;
  Seen seen;
  seen.replacement = half(g);
  uop::Run run(g, {}, &seen);
  EXPECT_EQ(run_pass(pass_of(lower), run, half(g)).value(), half(g));
  EXPECT_NE(seen.breaches[0], "");
}

TEST(Pass, HandsOnTheErrorOfItsFunction) {
  Graph g;
  uop::Run run(g);
  const Result<Ref> after = run_pass(pass_of(give_up), run, half(g));
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().message, "this pass never ends");
}

#ifdef ASSAY_CHECK_SPECS
TEST(PassDeathTest, AbortsOnABreachThatNobodyWatchesFor) {
  Graph g;
  uop::Run run(g);
  const Ref root = half(g);
  EXPECT_DEATH((void)run_pass(pass_of(leave), run, root),
               "pass lower_division: no division: %2 = div does not belong here");
}
#endif

TEST(Simplify, IsAListOfPassesOfWhichEachAcceptsWhatTheOneBeforeYields) {
  const auto passes = simplify_passes();
  for (size_t i = 1; i < passes.size(); i++) {
    EXPECT_TRUE(implies(passes[i - 1]->yields, passes[i]->accepts)) << passes[i]->name;
  }
  Graph g;
  Seen seen;
  uop::Run run(g, {}, &seen);
  const Ref x = g.variable("x", Index);
  const Ref y = g.variable("y", Index);
  const Ref four = g.constant(Index, 4);
  const Ref first = g.alu(Op::Mul, {x, four});
  const Ref second = g.alu(Op::Mul, {y, four});
  ASSERT_TRUE(simplify(run, g.alu(Op::Add, {first, second})).ok());
  EXPECT_EQ(seen.passes, (std::vector<std::string>{"simplify_values", "share_factors"}));
  EXPECT_EQ(seen.firings, 1U);
}

TEST(Rewrite, GoesIntoBodiesOfCallsOnlyWhenAsked) {
  Graph g;
  const Ref x = g.variable("x", of_int(I32, 0), of_int(I32, 9));
  const Ref sum = g.alu(Op::Add, {x, g.constant(I32, 0)});
  const Ref body = g.make(Op::Sink, Void, {sum});
  const Ref call = g.make(Op::Call, Void, {body, sum});
  const RuleSet* set = &identity_rules();
  uop::Run run(g);
  const Ref outside = run.rewrite({&set, 1}, call).value();
  EXPECT_EQ(outside->src[0], body);
  EXPECT_EQ(outside->src[1], x);
  const Ref inside = run.rewrite({&set, 1}, call, {.extent = Extent::Everything}).value();
  EXPECT_EQ(inside->src[0]->src[0], x);
  EXPECT_EQ(inside->src[1], x);
  const Ref top_down =
      run.rewrite({&set, 1}, call, {.order = Order::TopDown, .extent = Extent::OutsideBodies})
          .value();
  EXPECT_EQ(top_down, outside);
}

// Others have the same fold, which would be two if a term made its own of it.
TEST(Rewrite, WhatATermFoldsStaysWhatOthersFold) {
  Graph g;
  const Ref r = g.make(Op::Range, I32, {g.constant(I32, 4)}, Arg::axis(0, AxisType::Reduce));
  const Ref zero = g.constant(I32, 0);
  const Ref fold = g.make(Op::Reduce, I32, {g.alu(Op::Add, {r, zero}), r}, Arg::fold(Op::Add, 0));
  const RuleSet* set = &identity_rules();
  uop::Run run(g);
  EXPECT_EQ(Rewritten(run, {&set, 1})(g.alu(Op::Add, {fold, zero})), fold);
  EXPECT_NE(run.rewrite({&set, 1}, fold).value(), fold);
}

}  // namespace
}  // namespace assay::uop
