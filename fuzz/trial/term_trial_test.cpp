#include "fuzz/trial/term_trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/uop/key.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/verify.h"
#include "fuzz/coverage/coverage.h"
#include "fuzz/trial/movement_trial.h"
#include "props/firings/stock.h"

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

TEST(TryMovement, MakesAllRulesOfMovementFireAndFindsThemRight) {
  smt::Prover prover(smt::ProverOptions{});
  Seen seen;
  Coverage coverage;
  std::map<std::string, int64_t, std::less<>> unknown;
  for (uint64_t seed = 0; seed < 400; seed++) {
    Choices choices(seed);
    uop::Graph g;
    const uop::Ref moved = make_movement(g, choices);
    ASSERT_EQ(uop::verify(g, moved).value_or(""), "") << seed;
    const auto found =
        try_movement(g, moved, {prover, props::stock_target()}, unknown, {}, &coverage);
    ASSERT_FALSE(found) << seed << " " << found->evidence;
  }
  EXPECT_TRUE(unknown.empty()) << unknown.begin()->first;
  seen.add(coverage.take());
  for (const Feature f : seen.missing(FeatureKind::Rule)) {
    EXPECT_FALSE(to_text(f).starts_with("rule movement.")) << to_text(f);
  }
}

TEST(TryMovement, FindsARuleThatIsWrong) {
  const uop::By drops_the_outer = [](uop::Run&, uop::Ref u) -> uop::Ref {
    return u->src[0]->op == uop::Op::Flip ? u->src[0] : nullptr;
  };
  const uop::RuleSet mutant(
      "movement", {uop::by("flip_of_flip", uop::kScalars, {uop::Op::Flip}, drops_the_outer,
                           "two flips are the inner one", {uop::Op::Flip})});
  uop::Switches switches;
  switches.substitutes = {&mutant};
  smt::Prover prover(smt::ProverOptions{});
  std::map<std::string, int64_t, std::less<>> unknown;
  std::optional<Finding> found;
  for (uint64_t seed = 0; seed < 1000 && !found; seed++) {
    Choices choices(seed);
    uop::Graph g;
    const uop::Ref moved = make_movement(g, choices);
    found = try_movement(g, moved, {prover, props::stock_target()}, unknown, switches);
  }
  ASSERT_TRUE(found);
  EXPECT_EQ(found->judge, "firings");
  EXPECT_EQ(found->stage, "movement.flip_of_flip");
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
