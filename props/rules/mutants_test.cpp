// Faults planted in every pattern rule: each is refuted, or proved to be none.
#include "props/rules/mutants.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/runtime/rules.h"
#include "props/rules/prove_rule.h"

namespace assay::props {
namespace {

using oracles::Answer;
using uop::DType;

// Conditions without which a rule is as true: what they are for. "set.rule condition".
const std::map<std::string, std::string>& kept_conditions() {
  static const char* const ends = "keeps the rules from running in a circle";
  static const char* const no_value = "says where a constant has a value, which is asked anyway";
  static const std::map<std::string, std::string> table = {
      {"invalid.first_branch without (not_invalid a)", ends},
      {"invalid.gate_of_branch without (not_invalid b)", ends},
      {"invalid.gate_of_other_branch without (not_invalid b)", ends},
      {"select.not without (not_invalid b)", ends},
      {"combine.mul_constant_last without (no_constant y)", ends},
      {"div_mod.tdiv_by_negative without (< #c 0)", ends},
      {"div_mod.tmod_by_negative without (< #c 0)", ends},
      {"div_mod.div_by_negative without (< #c 0)", ends},
      {"div_mod.mod_by_negative without (< #c 0)", ends},
      {"identity.shr_to_div without (not (< #c 0))", no_value},
      {"identity.shr_to_div without (< #c 63)", no_value},
      {"compare.eq_of_product without (!= #c 0)", no_value},
      {"compare.ne_of_product without (!= #c 0)", no_value},
      {"compare.eq_of_no_multiple without (!= #c 0)", no_value},
      {"compare.ne_of_no_multiple without (!= #c 0)", no_value},
  };
  return table;
}

struct MutatedRule {
  const uop::RuleSet* set;
  const uop::Rule* rule;
};

std::vector<MutatedRule> mutated_rules() {
  std::vector<MutatedRule> all;
  for (const uop::RuleSet* set : runtime::all_rules()) {
    for (const uop::Rule& rule : set->rules()) {
      if (rule.by == nullptr) all.push_back({set, &rule});
    }
  }
  return all;
}

// The first answer that is no pass, at `index` and the types that are judged exhaustively; those
// where a fault shows soonest come first.
RuleProof judged(const uop::Rule& rule) {
  static smt::Prover prover;
  static smt::Tables tables;
  const RuleJudge judge = {prover, tables};
  RuleProof last;
  for (const DType t : {uop::Index, uop::I8, uop::U8, uop::Bool, uop::E5M2, uop::E4M3}) {
    if (!rule.over.has(t)) continue;
    last = prove_rule(rule, t, judge);
    if (last.verdict.answer != Answer::Pass) return last;
  }
  return last;
}

class EveryMutant : public testing::TestWithParam<MutatedRule> {};

TEST_P(EveryMutant, IsRefutedOrProvedToBeNone) {
  const auto& [set, rule] = GetParam();
  for (const Mutant& m : mutants_of(*rule)) {
    const std::string name = fmt::format("{} {}", uop::full_name(*set, *rule), m.name);
    const RuleProof proof = judged(m.rule);
    EXPECT_NE(proof.verdict.answer, Answer::Unknown) << name << ": " << proof.verdict.evidence;
    const bool is_redundant = m.drops_guard && proof.verdict.answer == Answer::Pass;
    EXPECT_EQ(is_redundant, kept_conditions().contains(name)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryMutant, testing::ValuesIn(mutated_rules()),
                         [](const testing::TestParamInfo<MutatedRule>& c) {
                           return fmt::format("{}_{}", c.param.set->name(), c.param.rule->name);
                         });

TEST(Mutants, PlantEachKindOfFault) {
  const uop::Pat x = uop::any("x");
  const uop::Pat c = uop::constant("c");
  uop::Rule rule;
  rule.name = "rule";
  rule.over = uop::kIndex;
  rule.match = x / c;
  rule.replace = x - c * 2;
  rule.when = c > 0 && hi(x) < c;
  std::vector<std::string> names;
  for (const Mutant& m : mutants_of(rule)) names.push_back(m.name);
  const std::vector<std::string> expected = {
      "without (< 0 #c)",
      "without (< (hi x) #c)",
      "one more in (- x (* #c 3))",
      "one less in (- x (* #c 1))",
      "swapped in (- (* #c 2) x)",
      "one more when (and (< 1 #c) (< (hi x) #c))",
      "one less when (and (< -1 #c) (< (hi x) #c))",
      "widened when (and (not (< #c 0)) (< (hi x) #c))",
      "widened when (and (< 0 #c) (not (< #c (hi x))))",
  };
  EXPECT_EQ(names, expected);
}

}  // namespace
}  // namespace assay::props
