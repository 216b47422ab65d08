// What a firing is taken for, and what is judged once.
#include "props/firings/checker.h"

#include <gtest/gtest.h>

#include "engine/codegen/barriers.h"
#include "engine/uop/pass.h"
#include "engine/uop/prefix.h"
#include "engine/uop/walk.h"
#include "props/firings/stock.h"
#include "props/firings/test_compile.h"
#include "props/firings/test_context.h"

namespace assay::props {
namespace {

using oracles::Choices;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

// Two terms of x and y, from -8 to 8, and p.
struct Terms {
  Graph g;
  TestContext with;
  FiringChecker checker{with.context};

  Ref term(std::string_view text) {
    const auto lo = uop::of_int(DType::Index, -8);
    const auto hi = uop::of_int(DType::Index, 8);
    uop::Leaves leaves;
    leaves["x"] = g.variable("x", lo, hi);
    leaves["y"] = g.variable("y", lo, hi);
    leaves["p"] = g.variable("p", DType::Bool);
    return uop::from_prefix(g, text, leaves).value();
  }
  const Outcome& judge(std::string_view before, std::string_view after) {
    const Ref b = term(before);
    const Ref a = term(after);
    return checker.judge(g, b, a);
  }
};

TEST(Firings, OfTermsAreJudgedByValue) {
  Terms t;
  EXPECT_EQ(t.judge("(* (+ x y) 2)", "(+ (* x 2) (* y 2))").verdict.answer, Answer::Pass);
  EXPECT_EQ(t.judge("(// x 2)", "(tdiv x 2)").verdict.answer, Answer::Fail);
  EXPECT_EQ(t.judge("(where p x invalid)", "x").verdict.answer, Answer::Fail);
}

// A term that was read only under a condition has no value elsewhere, be it the same on both sides.
TEST(Firings, OfTermsKnowWhatIsNotAlwaysRead) {
  Terms t;
  EXPECT_EQ(
      t.judge("(where (!= y 0) (// x y) 0)", "(* (// x y) (where (!= y 0) 1 0))").verdict.answer,
      Answer::Fail);
  EXPECT_EQ(
      t.judge("(* (// x y) (where (!= y 0) 1 0))", "(where (!= y 0) (// x y) 0)").verdict.answer,
      Answer::Pass);
}

// What is Invalid stays so.
TEST(Firings, OfTermsKeepWhatIsInvalid) {
  Terms t;
  EXPECT_EQ(t.judge("(* (where p x invalid) 0)", "0").verdict.answer, Answer::Fail);
  EXPECT_EQ(t.judge("(+ (where p x invalid) 0)", "(where p x invalid)").verdict.answer,
            Answer::Pass);
}

TEST(Firings, ThatAreEqualButForNamesAreJudgedOnce) {
  Terms t;
  t.judge("(+ x 0)", "x");
  const int64_t asked =
      t.with.prover.statistics().empty() ? 0 : t.with.prover.statistics().begin()->second.asked;
  t.judge("(+ y 0)", "y");
  t.judge("(+ x 0)", "x");
  EXPECT_EQ(t.checker.asked(), 3);
  EXPECT_EQ(t.checker.judged(), 2);
  const int64_t then =
      t.with.prover.statistics().empty() ? 0 : t.with.prover.statistics().begin()->second.asked;
  EXPECT_EQ(asked, then);
}

// A gate is lost, a barrier is dropped: in kernels that the engine made.
class Barriers : public testing::Test {
 protected:
  // Judges each AFTER or END with a BARRIER against the same without.
  void judge_without_barriers() {
    for (uint64_t seed = 0; seed < 40 && failed_ < 4; seed++) {
      Graph g;
      Choices choices(seed);
      const auto kernel = kernel_stock(g, choices);
      ASSERT_TRUE(kernel.ok()) << to_string(kernel.error());
      uop::Run run(g, {}, nullptr, stock_target());
      const auto done = uop::run_pass(codegen::pm_implicit_barriers(), run, kernel.value());
      ASSERT_TRUE(done.ok());
      for (const Ref u : uop::toposort(g, done.value())) judge_without(g, u);
    }
  }
  void judge_without(Graph& g, Ref u) {
    std::vector<Ref> sources(u->src.begin(), u->src.end());
    if (u->op == Op::After && sources.size() == 2 && sources[1]->op == Op::Barrier) {
      const auto waits = sources[1]->src;
      sources.assign({sources[0]});
      sources.insert(sources.end(), waits.begin(), waits.end());
    } else if (u->op == Op::End && sources[0]->op == Op::Barrier) {
      sources[0] = sources[0]->src[0];
    } else {
      return;
    }
    const Outcome outcome = checker_.judge(g, u, g.with_sources(u, sources));
    judged_++;
    if (outcome.verdict.answer == Answer::Fail) failed_++;
    // Adding it again is right.
    const Outcome back = checker_.judge(g, g.with_sources(u, sources), u);
    EXPECT_EQ(back.verdict.answer, Answer::Pass) << back.verdict.evidence;
  }

  TestContext with_;
  FiringChecker checker_{with_.context};
  int judged_ = 0;
  int failed_ = 0;
};

TEST_F(Barriers, ThatARuleDropsAreMissed) {
  judge_without_barriers();
  EXPECT_GE(judged_, 4);
  EXPECT_GE(failed_, 4);
}

TEST(FiringWatch, JudgesWhatFiresInPrograms) {
  TestContext with;
  FiringWatch watch(with.context);
  for (const auto* name : {"conv", "move", "reduce", "select", "source", "view", "window"}) {
    const auto path =
        std::filesystem::path(ASSAY_SOURCE_DIR) / "corpus/ops" / (name + std::string(".tp"));
    const auto done = compile_text(corpus_text(path), workgroup::sim_target(), &watch);
    ASSERT_TRUE(done.ok()) << path << ": " << to_string(done.error());
  }
  const Checked& checked = watch.checked();
  EXPECT_EQ(checked.verdict.answer, Answer::Pass) << checked.verdict.evidence;
  EXPECT_EQ(checked.unknown, 0);
  EXPECT_GE(checked.obligations, 300);
  EXPECT_LE(watch.checker().judged(), watch.checker().asked());
}

}  // namespace
}  // namespace assay::props
