// Faults planted in rules, which check_rule() must find: the judge of rules can fail.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/uop/rule_check.h"
#include "engine/uop/rules/rules.h"

namespace assay::uop {
namespace {

using What = Pat::What;

struct Mutant {
  std::string name;
  Rule rule;
};

// `pat` with some of its parts edited, all in one way: `edit` may give another term for a part.
template <typename Edit>
Pat edited(const Pat& pat, Edit& edit) {
  if (const std::optional<Pat> other = edit(pat)) return *other;
  if (pat->what != What::Apply || pat->args.empty()) return pat;
  std::vector<Pat> args;
  for (const Pat& arg : pat->args) args.push_back(edited(arg, edit));
  const Pat result(pat->op, args);
  return pat->type == Void ? result : result.as(pat->type);
}

// The term with its n-th part that `pick` changes changed, or nothing if there are fewer.
template <typename Pick>
std::optional<Pat> with_nth(const Pat& pat, int n, Pick pick) {
  int seen = 0;
  auto edit = [&](const Pat& part) -> std::optional<Pat> {
    const std::optional<Pat> other = pick(part);
    return other && seen++ == n ? other : std::nullopt;
  };
  const Pat result = edited(pat, edit);
  return seen > n ? std::optional(result) : std::nullopt;
}

std::optional<Pat> nudged(const Pat& part) {
  if (part->what != What::Literal) return std::nullopt;
  return Pat(part->literal == 1 ? 0 : part->literal + 1);
}

std::optional<Pat> swapped(const Pat& part) {
  if (part->what != What::Apply || commutes(part->op) || part->args.size() < 2) {
    return std::nullopt;
  }
  std::vector<Pat> args = part->args;
  std::swap(args[args.size() - 2], args[args.size() - 1]);
  if (to_text(args[0]) == to_text(part->args[0]) && to_text(args[1]) == to_text(part->args[1])) {
    if (args.size() < 3 || to_text(args[2]) == to_text(part->args[2])) return std::nullopt;
  }
  return Pat(part->op, args);
}

std::vector<Pat> conjuncts_of(const Pat& guard) {
  if (guard->what != What::Apply || guard->op != Op::And) return {guard};
  std::vector<Pat> all;
  for (const Pat& arg : guard->args) {
    for (const Pat& part : conjuncts_of(arg)) all.push_back(part);
  }
  return all;
}

void add_weaker_guards(const Rule& rule, std::vector<Mutant>& mutants) {
  if (rule.when.empty()) return;
  const std::vector<Pat> parts = conjuncts_of(rule.when);
  for (size_t dropped = 0; dropped < parts.size(); dropped++) {
    Mutant m = {fmt::format("without {}", to_text(parts[dropped])), rule};
    m.rule.when = {};
    for (size_t i = 0; i < parts.size(); i++) {
      if (i == dropped) continue;
      m.rule.when = m.rule.when.empty() ? parts[i] : m.rule.when && parts[i];
    }
    mutants.push_back(std::move(m));
  }
}

template <typename Pick>
void add_edits(const Rule& rule, const char* kind, Pick pick, std::vector<Mutant>& mutants) {
  for (int n = 0;; n++) {
    const std::optional<Pat> other = with_nth(rule.replace, n, pick);
    if (!other) return;
    Mutant m = {fmt::format("{} to {}", kind, to_text(*other)), rule};
    m.rule.replace = *other;
    mutants.push_back(std::move(m));
  }
}

// Mutants that are as true as their rule, and why. "set.rule mutant".
const std::map<std::string, std::string>& equivalents() {
  static const char* const ends = "keeps the rules from running in a circle, not true";
  static const char* const no_value = "a constant that has no value keeps the rule from firing";
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
      {"div_mod.tmod_below without (< 0 #c)", "-c < lo(x) <= hi(x) < c says it already"},
      {"div_mod.tmod_by_negative swapped to (tmod x (- #c 0))", "c - 0 has the same remainders"},
      {"div_mod.div_of_div without (< 0 #c)", "true of every c where d > 0"},
      {"div_mod.div_of_div_plus without (< 0 #c)", "true of every c where d > 0"},
  };
  return table;
}

struct Planted {
  const RuleSet* set;
  const Rule* rule;
};

std::vector<Planted> all_planted() {
  std::vector<Planted> cases;
  for (const RuleSet* set : all_rules()) {
    for (const Rule& rule : set->rules()) {
      if (rule.by == nullptr) cases.push_back({set, &rule});
    }
  }
  return cases;
}

bool is_killed(std::string_view set_name, const Rule& mutant) {
  const RuleSet set(set_name, {mutant});
  RuleBudget budget;
  budget.firings = 400;
  for (int i = 0; i < kDTypeCount; i++) {
    if (!mutant.over.has(DType(i))) continue;
    if (check_rule(set, set.rules()[0], DType(i), 7, budget).counterexample) return true;
  }
  return false;
}

class EveryFault : public testing::TestWithParam<Planted> {};

TEST_P(EveryFault, IsFoundOrKnownToBeNone) {
  const auto& [set, rule] = GetParam();
  std::vector<Mutant> mutants;
  add_weaker_guards(*rule, mutants);
  add_edits(*rule, "nudged", nudged, mutants);
  add_edits(*rule, "swapped", swapped, mutants);
  for (const Mutant& m : mutants) {
    const std::string name = fmt::format("{} {}", full_name(*set, *rule), m.name);
    EXPECT_NE(is_killed(set->name(), m.rule), equivalents().contains(name)) << name;
  }
}

std::string planted_name(const testing::TestParamInfo<Planted>& c) {
  return fmt::format("{}_{}", c.param.set->name(), c.param.rule->name);
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryFault, testing::ValuesIn(all_planted()), planted_name);

}  // namespace
}  // namespace assay::uop
