#include "engine/uop/rule_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/uop/rules/rules.h"

namespace assay::uop {
namespace {

struct Case {
  const RuleSet* set;
  const Rule* rule;
  DType over;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const RuleSet* set : all_rules()) {
    for (const Rule& rule : set->rules()) {
      for (int i = 0; rule.by == nullptr && i < kDTypeCount; i++) {
        if (rule.over.has(DType(i))) cases.push_back({set, &rule, DType(i)});
      }
    }
  }
  return cases;
}

std::string rule_name(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return fmt::format("{}_{}_{}", c.set->name(), c.rule->name, to_text(c.over));
}

class EveryRule : public testing::TestWithParam<Case> {};

TEST_P(EveryRule, IsSound) {
  const Case& c = GetParam();
  const RuleVerdict verdict = check_rule(*c.set, *c.rule, c.over, 1);
  EXPECT_EQ(verdict.counterexample.value_or("sound"), "sound");
  EXPECT_GT(verdict.points, 0U) << "nothing was compared in " << verdict.firings << " firings";
  if (verdict.counterexample) return;
  for (size_t i = 0; i < verdict.fired.size(); i++) {
    EXPECT_GT(verdict.fired[i], 0)
        << "way " << i << " of " << verdict.fired.size() << " to match never fired";
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryRule, testing::ValuesIn(all_cases()), rule_name);

TEST(Builder, MakesNothingWhereNothingSaysWhichTypeALiteralHas) {
  Graph g;
  const Pat compared = where(any("p"), 1, 0) == 1;
  Match match;
  match.holes[0] = g.variable("p", Bool);
  EXPECT_EQ(Builder(compared, hole_names(compared)).build(g, match, Bool), nullptr);
}

}  // namespace
}  // namespace assay::uop
