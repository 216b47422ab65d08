// Every pattern rule of the engine, proved; and rules that are known to be wrong, refuted.
#include "engine/runtime/rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "props/rules/prove_table.h"
#include "props/rules/repair.h"
#include "props/rules/rule_text.h"

namespace assay::props {
namespace {

using oracles::Answer;
using oracles::Strength;
using uop::DType;

RuleJudge shared_judge() {
  static smt::Prover prover;
  static smt::Tables tables;
  return {prover, tables};
}

struct TableRule {
  const uop::RuleSet* set;
  const uop::Rule* rule;
};

std::vector<TableRule> pattern_rules() {
  std::vector<TableRule> all;
  for (const uop::RuleSet* set : runtime::all_rules()) {
    for (const uop::Rule& rule : set->rules()) {
      if (rule.by == nullptr) all.push_back({set, &rule});
    }
  }
  return all;
}

class EveryPatternRule : public testing::TestWithParam<TableRule> {};

TEST_P(EveryPatternRule, IsProved) {
  const uop::Rule& rule = *GetParam().rule;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    const DType t = DType(i);
    if (!rule.over.has(t)) continue;
    const RuleProof proof = prove_rule(rule, t, shared_judge());
    EXPECT_EQ(proof.verdict.answer, Answer::Pass)
        << uop::to_text(t) << ": " << proof.verdict.evidence;
    EXPECT_NE(proof.method, "no instance") << uop::to_text(t);
    const bool is_wide_float = uop::is_float(t) && uop::bits_of(t) > 8;
    EXPECT_TRUE(is_wide_float || proof.verdict.strength != Strength::Sampled) << uop::to_text(t);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryPatternRule, testing::ValuesIn(pattern_rules()),
                         [](const testing::TestParamInfo<TableRule>& c) {
                           return fmt::format("{}_{}", c.param.set->name(), c.param.rule->name);
                         });

// Rules that compilers have had, and what they lacked. B numbers are those of public bugs.
struct WrongRule {
  const char* name;
  const char* text;
  const char* missing;  // the guard that repairs it; "" where none of the vocabulary does
};

class EveryWrongRule : public testing::TestWithParam<WrongRule> {};

TEST_P(EveryWrongRule, IsRefutedAndRepaired) {
  auto parsed = parse_rule(GetParam().text);
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  const uop::Rule& rule = parsed.value()->rule;
  DType t = DType::Void;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    if (rule.over.has(DType(i))) t = DType(i);
  }
  const RuleProof proof = prove_rule(rule, t, shared_judge());
  ASSERT_EQ(proof.verdict.answer, Answer::Fail) << proof.verdict.evidence;
  EXPECT_NE(proof.verdict.evidence.find(" where "), std::string::npos);
  EXPECT_EQ(missing_guard(rule, t, proof, shared_judge()).value_or(""), GetParam().missing);
}

const WrongRule kWrongRules[] = {
    {"B073", "tdiv(x, #d) < #c => x < #c * #d : index when d > 0", "c > 0"},
    {"B074", "tdiv(x * -10, 11) => x * -1 + tdiv(x, 11) : index", ""},
    {"B075", "(x / #c) / #d => x / (#c * #d) : index when c > 0", "d >= 0"},
    {"B077", "x * 2 < #d => x < #d / 2 : index", "(d % 2) == 0"},
    {"B078", "((x * #c) % #d) % #c => 0 : index when c != 0 && d != 0", "(d % c) == 0"},
    {"B083", "#c < x => #c <= x - 1 : f32", ""},
    {"B087", "tdiv(x * 48 + 241, 16) => x * 3 + 15 : index", "lo(x) >= 0"},
    {"B089",
     "tmod(tdiv(x * #c * #m + y, #m), #c) => tmod(tdiv(y, #m), #c) : index when m > 0 && c > 0",
     ""},
    {"B097_quotient", "x / x => 1 : f32", ""},
    {"B097_product", "x * 0 => 0 : f16", ""},
    {"B097_cancelled", "(x * y) / y => x : f32", ""},
};

INSTANTIATE_TEST_SUITE_P(Rules, EveryWrongRule, testing::ValuesIn(kWrongRules),
                         [](const auto& c) { return std::string(c.param.name); });

struct RightRule {
  const char* name;
  const char* text;
};

class EveryRightRule : public testing::TestWithParam<RightRule> {};

TEST_P(EveryRightRule, IsProved) {
  auto parsed = parse_rule(GetParam().text);
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  const uop::Rule& rule = parsed.value()->rule;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    if (!rule.over.has(DType(i))) continue;
    const RuleProof proof = prove_rule(rule, DType(i), shared_judge());
    EXPECT_EQ(proof.verdict.answer, Answer::Pass)
        << uop::to_text(DType(i)) << ": " << proof.verdict.evidence;
  }
}

const RightRule kRightRules[] = {
    {"mod_of_mod", "(x % y) % y => x % y : ints when y != 0"},
    {"div_of_div", "(x / c) / d => x / (c * d) : index when c > 0 && d > 0"},
    {"div_of_div_by_any", "(x / c) / d => x / (c * d) : index when d > 0"},
    {"mod_of_product", "(x * #c) % #d => 0 : index when d != 0 && c % d == 0"},
    {"mod_of_mod_of_product", "((x * c) % d) % c => 0 : index when d % c == 0"},
    {"mod_of_mod_of_multiple", "(x % d) % c => x % c : index when d % c == 0"},
    {"div_of_mod", "(x % m) / c => (x / c) % (m / c) : index when m > 0 && c > 0 && m % c == 0"},
    {"bounded_sum", "x + #c < y + #c => x < y : index"},
    {"no_instance_of_a_pole", "x / #c => x : index when c == 1"},
    {"clamped", "min(max(x, #c), #d) => #c : ints when hi(x) <= c && c <= d"},
    {"twice", "x + x => x * 2 : numbers"},
};

INSTANTIATE_TEST_SUITE_P(Rules, EveryRightRule, testing::ValuesIn(kRightRules),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(ProveRule, KnowsNoPredicateWithoutAMeaning) {
  static constexpr uop::Predicate kStrange = {
      "strange", [](uop::Graph&, std::span<const uop::Ref>) { return true; }};
  const uop::Pat x = uop::any("x");
  uop::Rule rule;
  rule.name = "rule";
  rule.over = uop::kIndex;
  rule.match = x + 0;
  rule.replace = x;
  rule.when = uop::test(kStrange, {x});
  const RuleProof proof = prove_rule(rule, uop::Index, shared_judge());
  EXPECT_EQ(proof.verdict.answer, Answer::Unknown);
  EXPECT_EQ(proof.method, "predicate strange");
}

TEST(ProveRule, RefutesAReplacementOfAnotherType) {
  auto parsed = parse_rule("x < y => x - y : ints");
  ASSERT_TRUE(parsed.ok());
  const RuleProof proof = prove_rule(parsed.value()->rule, uop::I32, shared_judge());
  EXPECT_EQ(proof.verdict.answer, Answer::Fail);
}

// A bound is any that holds: a rule must not take it for the value.
TEST(ProveRule, TakesBoundsForAnyThatHold) {
  auto parsed = parse_rule("x + #c => lo(x) + #c : index when lo(x) >= 0");
  ASSERT_TRUE(parsed.ok());
  const RuleProof proof = prove_rule(parsed.value()->rule, uop::Index, shared_judge());
  EXPECT_EQ(proof.verdict.answer, Answer::Fail);
}

// Of two sides of which one is read where it was not before.
TEST(ProveRule, KnowsInvalidAndUnspecifiedOperands) {
  const auto answer = [](const char* text) {
    auto parsed = parse_rule(text);
    EXPECT_TRUE(parsed.ok()) << text;
    return prove_rule(parsed.value()->rule, uop::Bool, shared_judge()).verdict.answer;
  };
  EXPECT_EQ(answer("where(p, a, false) => p && a : bool"), Answer::Fail);
  EXPECT_EQ(answer("where(p, a, false) => p && a : bool when never_invalid(a)"), Answer::Fail);
  EXPECT_EQ(answer("where(p, a, false) => p && a : bool when never_invalid(a) && "
                   "never_unspecified(a)"),
            Answer::Pass);
}

TEST(ProveTable, HasARowForEachRuleAndType) {
  TableOptions options;
  options.set = "movement";
  for (const TableRow& row : table_rows(runtime::all_rules(), options)) {
    EXPECT_TRUE(row.is_listed);
    EXPECT_EQ(row_text(row), uop::full_name(*row.set, *row.rule) + " by firing");
  }
  options.set = "";
  options.rule = "combine.mul_constants";
  EXPECT_EQ(table_rows(runtime::all_rules(), options).size(), 9U);
  options.type = uop::I16;
  EXPECT_EQ(table_rows(runtime::all_rules(), options).size(), 1U);
}

TEST(ProveTable, JudgesRulesByFiringsWhereItIsTold) {
  TableOptions options;
  options.set = "movement";
  options.by_firings = [](const uop::RuleSet&, const uop::Rule& rule,
                          const RuleJudge&) -> std::optional<RuleProof> {
    if (rule.name != "flip_of_flip") return std::nullopt;
    return RuleProof{{Answer::Fail, Strength::Sampled, "flipped"}, "execution"};
  };
  TableCounts counts;
  for (TableRow row : table_rows(runtime::all_rules(), options)) {
    judge_row(row, options, shared_judge());
    counts.add(row);
  }
  EXPECT_EQ(counts.failed, 1U);
  EXPECT_EQ(counts.listed, 6U);
}

TEST(ProveTable, WritesEvidenceThatReadsBack) {
  auto parsed = parse_rule("wrong: x * c => x : index when c > 0 && lo(x) >= 0");
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  const uop::RuleSet set("own", {parsed.value()->rule});
  const uop::RuleSet* sets[] = {&set};
  const TableOptions options;
  std::vector<TableRow> rows = table_rows(sets, options);
  ASSERT_EQ(rows.size(), 1U);
  judge_row(rows[0], options, shared_judge());
  const std::string text = evidence_text(rows[0]);
  const auto again = parse_rule(text.substr(text.rfind("\nwrong") + 1));
  ASSERT_TRUE(again.ok()) << text;
  EXPECT_EQ(uop::to_text(again.value()->rule.when), uop::to_text(parsed.value()->rule.when));
  EXPECT_NE(row_text(rows[0]).find("own.wrong index fail"), std::string::npos);
}

}  // namespace
}  // namespace assay::props
