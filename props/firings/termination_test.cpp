#include "props/firings/termination.h"

#include <gtest/gtest.h>

#include "engine/runtime/rules.h"
#include "engine/uop/rules/rules.h"
#include "props/firings/measure.h"
#include "props/firings/test_compile.h"
#include "props/firings/test_context.h"

namespace assay::props {
namespace {

using uop::Op;
using uop::Pat;
using uop::Rule;
using uop::RuleSet;

std::vector<std::string> saved_rules() {
  std::vector<std::string> all;
  for (const auto& path : corpus_files("rules", ".uop")) all.push_back(corpus_text(path));
  return all;
}

class EverySetOfRules : public testing::TestWithParam<Applied> {};

TEST_P(EverySetOfRules, ComesToAnEnd) {
  TestContext with;
  const std::vector<std::string> saved = saved_rules();
  const Checked checked = check_termination(GetParam().sets, with.context, saved);
  EXPECT_EQ(checked.verdict.answer, Answer::Pass) << checked.verdict.evidence;
  EXPECT_EQ(checked.unknown, 0);
}

std::vector<Applied> all_applied() {
  std::vector<Applied> all = applied_together();
  for (const RuleSet* set : runtime::all_rules()) {
    all.push_back({"alone_" + std::string(set->name()), {set}});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Rules, EverySetOfRules, testing::ValuesIn(all_applied()),
                         [](const auto& c) { return c.param.name; });

// Whether the rules are seen to run for ever.
bool is_endless(std::vector<Rule> rules) {
  TestContext with;
  const RuleSet set("planted", std::move(rules));
  return check_termination(set, with.context).verdict.answer == Answer::Fail;
}

const Pat x = uop::any("x");
const Pat y = uop::any("y");
const Pat z = uop::any("z");
const Pat c = uop::constant("c");

TEST(EndlessRules, AreFound) {
  EXPECT_TRUE(is_endless({{"turn", uop::kNumbers, x + y, y + x}}));
  EXPECT_TRUE(is_endless({{"apart", uop::kInts, x * (y + z), x * y + x * z},
                          {"together", uop::kInts, x * y + x * z, x * (y + z)}}));
  EXPECT_TRUE(is_endless({{"grow", uop::kInts, x + y, (x + y) + 0}}));
  // One that makes the other's match, deep inside.
  EXPECT_TRUE(is_endless(
      {{"to_sum", uop::kIndex, x * 2, x + x}, {"to_product", uop::kIndex, x + x, x * 2}}));
}

TEST(EndlessRules, AreNamed) {
  TestContext with;
  const RuleSet set("planted", {{"turn", uop::kNumbers, x + y, y + x}});
  const Checked checked = check_termination(set, with.context);
  EXPECT_NE(checked.verdict.evidence.find("planted.turn"), std::string::npos);
  ASSERT_EQ(checked.evidence.size(), 1U);
  EXPECT_EQ(checked.evidence[0].suffix, "endless.uop");
}

// A rule that would undo another is listed, though an earlier one stands before it.
TEST(RulesThatUndoOthers, AreListed) {
  TestContext with;
  const RuleSet set("planted", {{"zero", uop::kIndex, x + 0, x},
                                {"less", uop::kIndex, x - y, x + (0 - y)},
                                {"more", uop::kIndex, x + (0 - y), x - y}});
  const Checked checked = check_termination(set, with.context);
  EXPECT_EQ(checked.verdict.answer, Answer::Fail);
  const std::string wanted = "planted.more may undo planted.less";
  EXPECT_NE(std::find(checked.listed.begin(), checked.listed.end(), wanted), checked.listed.end());
}

TEST(Measures, AreLoweredByRulesThatSimplify) {
  const auto lowered = [](Rule rule) { return lowered_measure(rule).value_or("none"); };
  EXPECT_EQ(lowered({"r", uop::kInts, x + 0, x}), "operations");
  EXPECT_EQ(lowered({"r", uop::kIndex, (x / c) / c, x / (c * c)}), "divisions");
  EXPECT_EQ(lowered({"r", uop::kInts, x + x, x * 2}), "none");  // a product more
  EXPECT_EQ(lowered({"r", uop::kInts, x * (y + z), x * y + x * z}), "none");
  EXPECT_EQ(lowered({"r", uop::kInts, x + y, y + x}), "none");
  EXPECT_EQ(lowered({"r", uop::kInts, x - y, x + (0 - y)}), "none");
  EXPECT_EQ(lowered({"r", uop::kInts, uop::max(x, x), x}), "extremes");
}

TEST(Measures, ProveMostPatternRules) {
  int proved = 0;
  int rules = 0;
  for (const RuleSet* set : uop::all_rules()) {
    for (const Rule& rule : set->rules()) {
      if (rule.by != nullptr) continue;
      rules++;
      proved += lowered_measure(rule) ? 1 : 0;
    }
  }
  EXPECT_GE(proved * 4, rules * 3) << proved << " of " << rules;
}

}  // namespace
}  // namespace assay::props
