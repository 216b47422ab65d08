// Rules that are functions: applied to random terms of the operations they look at, and what they
// make (and what fires on the way) judged by evaluation.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/uop/refines.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "fuzz/trial/firing_judge.h"
#include "props/firings/term.h"

namespace assay::fuzz {
namespace {

using oracles::Choices;
using props::TermMaker;
using uop::DType;
using uop::Op;
using uop::Ref;
using uop::Rule;
using uop::RuleSet;

constexpr int kFirings = 40;
constexpr int kAttempts = 30000;

struct Case {
  const RuleSet* set;
  const Rule* rule;
  DType over;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const RuleSet* set : uop::all_rules()) {
    for (const Rule& rule : set->rules()) {
      // Movement is judged by where elements come from, in engine/uop/movement_test.cpp.
      if (set == &uop::movement_rules()) continue;
      for (int i = 0; rule.by != nullptr && i < uop::kDTypeCount; i++) {
        if (rule.over.has(DType(i))) cases.push_back({set, &rule, DType(i)});
      }
    }
  }
  return cases;
}

std::string name_of(const testing::TestParamInfo<Case>& c) {
  return fmt::format("{}_{}_{}", c.param.set->name(), c.param.rule->name, to_text(c.param.over));
}

// The operations that the rule looks at and that work at type t.
std::vector<Op> roots_of(const Rule& rule, DType t) {
  std::vector<Op> ops;
  for (int i = 0; i < uop::kOpCount; i++) {
    const Op op = static_cast<Op>(i);
    if (rule.roots.has(op) && info(op).over.has(t)) ops.push_back(op);
  }
  return ops;
}

class EveryByRule : public testing::TestWithParam<Case> {};

TEST_P(EveryByRule, IsSoundWhereItFires) {
  const auto& [set, rule, over] = GetParam();
  const std::vector<Op> roots = roots_of(*rule, over);
  int firings = 0;
  size_t points = 0;
  for (int attempt = 0; attempt < kAttempts && firings < kFirings; attempt++) {
    Choices choices(static_cast<uint64_t>(attempt));
    uop::Graph g;
    TermMaker maker(g, choices);
    const Op root = choices.pick(std::span<const Op>(roots));
    const Ref before = maker.rooted(root, over, static_cast<int>(choices.below(8)));
    if (before->op != root || judged_type(before) != over) continue;
    FiringJudge judge;
    uop::Run run(g, {}, &judge);
    const Ref after = rule->by(run, before);
    ASSERT_EQ(judge.counterexample(), std::nullopt);
    if (after == nullptr || after == before) continue;
    firings++;
    const uop::Judged judged = uop::judge(g, before, after, choices.random(), 200);
    ASSERT_EQ(judged.counterexample, std::nullopt) << attempt;
    points += judged.points - judged.excused;
  }
  EXPECT_EQ(firings, kFirings);
  EXPECT_GE(points, static_cast<size_t>(kFirings) / 2);
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryByRule, testing::ValuesIn(all_cases()), name_of);

}  // namespace
}  // namespace assay::fuzz
