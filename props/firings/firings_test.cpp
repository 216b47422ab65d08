// Every rule that is a function, made to fire; and faults planted in such rules.
#include "props/firings/firings.h"

#include <gtest/gtest.h>

#include "engine/runtime/rules.h"
#include "engine/uop/dim.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/shape.h"
#include "engine/uop/text.h"
#include "props/firings/test_compile.h"
#include "props/firings/test_context.h"

namespace assay::props {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;
using uop::Rule;
using uop::RuleSet;
using Rewriting = uop::Run;  // within a TEST, Run is a function of GoogleTest

struct ByRule {
  const RuleSet* set;
  const Rule* rule;
};

std::vector<ByRule> by_rules() {
  std::vector<ByRule> all;
  for (const RuleSet* set : runtime::all_rules()) {
    for (const Rule& rule : set->rules()) {
      if (rule.by != nullptr) all.push_back({set, &rule});
    }
  }
  return all;
}

class EveryFunctionRule : public testing::TestWithParam<ByRule> {};

TEST_P(EveryFunctionRule, KeepsMeaningWhereItFires) {
  const auto& [set, rule] = GetParam();
  const auto folder = std::filesystem::path(ASSAY_SOURCE_DIR) / "corpus/rules";
  const std::string saved[] = {corpus_text(folder / (uop::full_name(*set, *rule) + ".uop"))};
  TestContext with;
  const Checked checked =
      check_firings(*set, *rule, with.context, saved, {.firings = 6, .attempts = 4000});
  EXPECT_EQ(checked.verdict.answer, Answer::Pass) << checked.verdict.evidence;
  EXPECT_EQ(checked.unknown, 0);
  EXPECT_GE(checked.obligations, 6);
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryFunctionRule, testing::ValuesIn(by_rules()),
                         [](const auto& c) {
                           std::string name = uop::full_name(*c.param.set, *c.param.rule);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

// Scalars.
Ref one_more(Rewriting& run, Ref u) {
  if (!uop::is_const(u->src[1])) return nullptr;
  Graph& g = run.graph();
  const Ref next = g.constant(u->dtype, static_cast<int64_t>(u->src[1]->arg.bits) + 1);
  return g.alu(u->op, {u->src[0], next});
}
Ref without_gate(Rewriting&, Ref u) {
  return u->src[2]->op == Op::Invalid && u->src[0]->op != Op::Const ? u->src[1] : nullptr;
}
Ref swapped(Rewriting& run, Ref u) {
  return u->src[0] == u->src[1] ? nullptr : run.graph().alu(u->op, {u->src[1], u->src[0]});
}
Ref cut(Rewriting& run, Ref u) { return run.graph().alu(Op::TDiv, {u->src[0], u->src[1]}); }
Ref other_base(Rewriting& run, Ref u) { return run.graph().alu(Op::Exp2, {u->src[0]}); }

TEST(PlantedFirings, OfScalarsFail) {
  EXPECT_EQ(check_planted(uop::kIndex, {Op::Add, Op::Mul}, one_more).verdict.answer, Answer::Fail);
  EXPECT_EQ(check_planted(uop::kIndex, {Op::Where}, without_gate).verdict.answer, Answer::Fail);
  EXPECT_EQ(check_planted(uop::kFloats, {Op::Sub}, swapped).verdict.answer, Answer::Fail);
  EXPECT_EQ(check_planted(uop::kInts, {Op::Lt}, swapped).verdict.answer, Answer::Fail);
  EXPECT_EQ(check_planted({DType::I8}, {Op::Div}, cut).verdict.answer, Answer::Fail);
  EXPECT_EQ(check_planted({DType::F32}, {Op::Exp}, other_base).verdict.answer, Answer::Fail);
}

TEST(PlantedFirings, OfScalarsSayWhatFired) {
  const Checked checked = check_planted(uop::kIndex, {Op::Add}, one_more);
  EXPECT_EQ(checked.shape, "planted.fault");
  EXPECT_TRUE(checked.verdict.evidence.starts_with("planted.fault: "));
  ASSERT_EQ(checked.evidence.size(), 2U);
  Graph g;
  EXPECT_TRUE(uop::from_text(g, checked.evidence[0].text).ok());
}

// Movement.
Ref to_source(Rewriting&, Ref u) { return u->src[0]; }
Ref skip_inner(Rewriting& run, Ref u) {
  if (u->src[0]->op != u->op) return nullptr;
  std::vector<Ref> sources(u->src.begin(), u->src.end());
  sources[0] = u->src[0]->src[0];
  return run.graph().with_sources(u, sources);
}
Ref turned_back(Rewriting& run, Ref u) {
  const Ref inner = u->src[0];
  if (inner->op != Op::Permute) return nullptr;
  std::vector<int64_t> order;  // the two the other way round
  for (const int64_t axis : inner->arg.numbers()) {
    order.push_back(u->arg.numbers()[static_cast<size_t>(axis)]);
  }
  return uop::permute(run.graph(), inner->src[0], order);
}
Ref second_begin_twice(Rewriting& run, Ref u) {
  const Ref inner = u->src[0];
  if (inner->op != Op::Shrink) return nullptr;
  std::vector<Ref> bounds;
  for (size_t i = 1; i < u->src.size(); i += 2) {
    bounds.push_back(uop::dim_add(run.graph(), u->src[i], u->src[i]));
    bounds.push_back(u->src[i + 1]);
  }
  return uop::shrink(run.graph(), inner->src[0], bounds);
}
Ref low_for_high(Rewriting& run, Ref u) {
  std::vector<Ref> amounts(u->src.begin() + 1, u->src.end());
  std::swap(amounts[0], amounts[1]);
  return uop::pad(run.graph(), u->src[0], amounts);
}

TEST(PlantedFirings, OfMovementFailForSomeSizesAndAreRun) {
  const auto failure = [](OpSet roots, uop::By fault) {
    const Checked checked = check_planted(uop::kScalars, roots, fault);
    EXPECT_EQ(checked.verdict.answer, Answer::Fail) << checked.verdict.evidence;
    EXPECT_NE(checked.verdict.evidence.find("run, "), std::string::npos)
        << checked.verdict.evidence;
  };
  failure({Op::Flip}, to_source);
  failure({Op::Pad}, to_source);
  failure({Op::Permute}, to_source);
  failure({Op::Permute}, turned_back);
  failure({Op::Permute}, skip_inner);
  failure({Op::Flip}, skip_inner);
  failure({Op::Pad}, skip_inner);
  failure({Op::Pad}, low_for_high);
  failure({Op::Shrink}, skip_inner);
  failure({Op::Shrink}, second_begin_twice);
}

// Tensors.
Ref smallest_for_largest(Rewriting& run, Ref u) {
  if (u->arg.fold_op() != Op::Max) return nullptr;
  const auto fold = uop::Arg::fold(Op::Min, static_cast<int32_t>(u->arg.number()));
  return run.graph().make(u->op, u->dtype, u->src, fold);
}
Ref never_stored(Rewriting&, Ref u) {
  return u->src.size() == 2 && u->src[1]->op == Op::Store ? u->src[0] : nullptr;
}
Ref zeros(Rewriting& run, Ref u) {
  Graph& g = run.graph();
  const uop::Shape shape = uop::shape(g, u);
  return uop::expand(g, g.constant(u->dtype, 0), shape);
}
Ref bits_as_value(Rewriting& run, Ref u) {
  if (uop::bits_of(u->dtype) != uop::bits_of(u->src[0]->dtype)) return nullptr;
  return run.graph().make(Op::Cast, u->dtype, {u->src[0]});
}

TEST(PlantedFirings, OfTensorsFail) {
  const auto answer = [](uop::TypeSet over, OpSet roots, uop::By fault, OpSet needs) {
    return check_planted(over, roots, fault, needs).verdict.answer;
  };
  EXPECT_EQ(answer(uop::kScalars, {Op::Reduce}, smallest_for_largest, OpSet::all()), Answer::Fail);
  EXPECT_EQ(answer(uop::kScalars, {Op::After}, never_stored, {Op::Store}), Answer::Fail);
  EXPECT_EQ(answer(uop::kScalars, {Op::Copy}, zeros, OpSet::all()), Answer::Fail);
  EXPECT_EQ(answer({DType::F32}, {Op::Bitcast}, bits_as_value, OpSet::all()), Answer::Fail);
}

TEST(FiringsOfARule, ThatNeverFiresAreUnknown) {
  const auto never = [](Rewriting&, Ref) -> Ref { return nullptr; };
  const Checked checked = check_planted(uop::kIndex, {Op::Add}, never);
  EXPECT_EQ(checked.verdict.answer, Answer::Unknown);
  EXPECT_EQ(checked.by_cause.at("never fired"), 1);
}

}  // namespace
}  // namespace assay::props
