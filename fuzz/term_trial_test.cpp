#include "fuzz/term_trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "engine/uop/key.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/verify.h"
#include "fuzz/coverage.h"

namespace assay::fuzz {
namespace {

using uop::Pat;

uop::Ref term_of(uop::Graph& g, uint64_t seed) {
  Choices choices(seed);
  return make_term(g, choices);
}

TEST(MakeTerm, MakesAWellFormedTermOfEachSeedAndTheSameTwice) {
  for (uint64_t seed = 0; seed < 2000; seed++) {
    uop::Graph g;
    uop::Graph other;
    const uop::Ref u = term_of(g, seed);
    ASSERT_EQ(uop::verify(g, u).value_or(""), "") << seed;
    ASSERT_EQ(uop::key(g, u), uop::key(other, term_of(other, seed))) << seed;
  }
}

TEST(TryTerm, FindsNothingWrongWhereNothingIs) {
  for (uint64_t seed = 0; seed < 4000; seed++) {
    uop::Graph g;
    const std::optional<Finding> found = try_term(g, term_of(g, seed));
    ASSERT_FALSE(found) << seed << " " << found->evidence;
  }
}

TEST(TryTerm, MakesNearlyAllRulesOfScalarsFire) {
  Seen seen;
  for (uint64_t seed = 0; seed < 8000; seed++) {
    uop::Graph g;
    Coverage coverage;
    try_term(g, term_of(g, seed), {}, &coverage);
    seen.add(coverage.take());
  }
  std::set<std::string> missing;
  for (const Feature f : seen.missing(FeatureKind::Rule)) missing.insert(to_text(f));
  size_t rules = 0;
  std::string never;
  size_t count = 0;
  for (const uop::RuleSet* set : uop::all_rules()) {
    if (set == &uop::movement_rules()) continue;  // of shapes
    for (const uop::Rule& rule : set->rules()) {
      const std::string name = "rule " + full_name(*set, rule);
      rules++;
      if (!missing.contains(name)) continue;
      count++;
      never += name + "\n";
    }
  }
  EXPECT_GT(rules, 100U);
  EXPECT_LE(count * 20, rules) << never;
}

TEST(TryTerm, FindsARuleThatIsWrong) {
  const Pat x = uop::any("x");
  const Pat y = uop::any("y");
  const Pat c = uop::constant("c");
  const Pat d = uop::constant("d");
  struct Wrong {
    const char* set;
    uop::Rule rule;
  };
  const Wrong wrong[] = {
      {"compare", {"lt_moves_constant", uop::kIndex, x + c < d, x < d + c}},
      {"identity", {"add_zero", uop::kNumbers, x + 0, x}},
      {"min_max", {"max_above", uop::kInts, uop::max(x, y), x, lo(y) <= lo(x)}},
  };
  for (const Wrong& w : wrong) {
    const uop::RuleSet mutant(w.set, {w.rule});
    uop::Switches switches;
    switches.substitutes = {&mutant};
    std::optional<Finding> found;
    for (uint64_t seed = 0; seed < 20000 && !found; seed++) {
      uop::Graph g;
      found = try_term(g, term_of(g, seed), switches);
    }
    ASSERT_TRUE(found) << w.rule.name;
    EXPECT_EQ(found->judge, "firings");
    EXPECT_EQ(found->stage, full_name(mutant, w.rule));
  }
}

}  // namespace
}  // namespace assay::fuzz
