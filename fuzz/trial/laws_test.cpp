// What must hold of simplify() on any term.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/uop/bounds.h"
#include "engine/uop/key.h"
#include "engine/uop/refines.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/simplify.h"
#include "engine/uop/unspecified.h"
#include "fuzz/trial/firing_judge.h"
#include "props/firings/term.h"

namespace assay::fuzz {
namespace {

using oracles::Choices;
using props::TermMaker;
using uop::DType;
using uop::Graph;
using uop::Ref;
using Rewriting = uop::Run;  // fixtures have a Run of their own
using uop::Switches;

// Unoptimized builds are slower by an order of magnitude.
#ifdef __OPTIMIZE__
constexpr uint64_t kTerms = 600;
#else
constexpr uint64_t kTerms = 80;
#endif

class Laws : public testing::TestWithParam<DType> {
 protected:
  // The n-th random term of the type under test.
  static Ref make_term(Graph& g, uint64_t n) {
    Choices choices(n * 64 + static_cast<uint64_t>(GetParam()));
    const int size = 2 + static_cast<int>(choices.below(14));
    return TermMaker(g, choices).term(GetParam(), size);
  }
  // The simplified term, or null (and a failure) on an error.
  static Ref simple(Rewriting& run, Ref u) {
    const Result<Ref> result = simplify(run, u);
    if (result.ok()) return result.value();
    ADD_FAILURE() << result.error().message << " in " << uop::shown(u, 40);
    return nullptr;
  }
  static testing::AssertionResult refines(Graph& g, Ref before, Ref after, uint64_t seed) {
    uop::Random random(seed);
    const uop::Judged judged = uop::judge(g, before, after, random, 100);
    if (!judged.counterexample) return testing::AssertionSuccess();
    return testing::AssertionFailure() << *judged.counterexample;
  }
};

TEST_P(Laws, EveryFiringAndTheWholeKeepTheMeaning) {
  for (uint64_t n = 0; n < kTerms; n++) {
    Graph g;
    const Ref before = make_term(g, n);
    FiringJudge judge;
    Rewriting run(g, {}, &judge);
    const Ref after = simple(run, before);
    ASSERT_NE(after, nullptr) << n;
    ASSERT_EQ(judge.counterexample(), std::nullopt) << n;
    ASSERT_TRUE(refines(g, before, after, n)) << n;
    ASSERT_TRUE(judge.is_in_step() && judge.firings() == run.firings()) << n;
  }
}

TEST_P(Laws, SimplifyingTwiceIsSimplifyingOnce) {
  for (uint64_t n = 0; n < kTerms; n++) {
    Graph g;
    Rewriting run(g);
    const Ref once = simple(run, make_term(g, n));
    ASSERT_NE(once, nullptr);
    const Ref twice = simple(run, once);
    ASSERT_EQ(once, twice) << n << ": " << uop::shown(once, 40) << "\nbecomes "
                           << uop::shown(twice, 40);
  }
}

TEST_P(Laws, TheResultDependsOnNothingButTheTerm) {
  for (uint64_t n = 0; n < kTerms; n++) {
    Graph g;
    Rewriting run(g);
    const Ref result = simple(run, make_term(g, n));
    Graph other;
    Choices junk(n);
    TermMaker(other, junk).term(DType::Index, 20);
    TermMaker(other, junk).term(GetParam(), 20);
    Rewriting second(other);
    const Ref again = simple(second, make_term(other, n));
    ASSERT_NE(result, nullptr);
    ASSERT_NE(again, nullptr);
    ASSERT_EQ(key(g, result), key(other, again)) << n;
    ASSERT_EQ(uop::shown(result, 40), uop::shown(again, 40)) << n;
    ASSERT_EQ(run.firings(), second.firings()) << n;
  }
}

bool is_within_bounds(Graph& g, Ref u, uop::Value v) {
  if (uop::is_float(u->dtype)) {
    const uop::FloatBounds b = float_bounds(g, u);
    return is_nan(v) ? b.may_be_nan : b.lo <= as_double(v) && as_double(v) <= b.hi;
  }
  const uop::Bounds b = bounds(g, u);
  return b.lo <= as_int(v) && as_int(v) <= b.hi;
}

// Whether what is known of u allows what it is at a point.
bool is_allowed(Graph& g, Ref u, uop::Cell cell, const std::vector<Ref>& leaves,
                const std::vector<uop::Value>& values) {
  if (cell.defined()) return is_within_bounds(g, u, cell.value);
  if (cell.state == uop::Cell::State::Invalid) return uop::may_be_invalid(g, u);
  return uop::may_be_unspecified(g, u) || uop::leaves_64_bits(g, u, leaves, values);
}

TEST_P(Laws, BoundsHoldEveryValue) {
  for (uint64_t n = 0; n < kTerms; n++) {
    Graph g;
    const Ref root = make_term(g, n);
    uop::Random random(n);
    for (const Ref u : toposort(g, root)) {
      uop::Evaluator evaluator(g, u);
      uop::Points points(evaluator.leaves(), random, 12);
      while (const std::vector<uop::Value>* values = points.next()) {
        const uop::Cell cell = evaluator.run(*values);
        ASSERT_TRUE(is_allowed(g, u, cell, evaluator.leaves(), *values))
            << n << ": " << uop::shown(u) << " is " << uop::shown(cell);
      }
    }
  }
}

std::vector<std::string> all_rule_names() {
  std::vector<std::string> names;
  for (const uop::RuleSet* set : uop::all_rules()) {
    for (const uop::Rule& rule : set->rules()) names.push_back(full_name(*set, rule));
  }
  return names;
}

TEST_P(Laws, HoldWithoutAnyOneRule) {
  const std::vector<std::string> names = all_rule_names();
  for (uint64_t n = 0; n < kTerms; n++) {
    Graph g;
    const Ref before = make_term(g, n);
    Switches switches;
    switches.off = {names[n % names.size()]};
    FiringJudge judge;
    Rewriting run(g, switches, &judge);
    const Ref after = simple(run, before);
    ASSERT_NE(after, nullptr) << n << " without " << switches.off[0];
    ASSERT_EQ(judge.counterexample(), std::nullopt) << n;
    ASSERT_TRUE(refines(g, before, after, n)) << n << " without " << switches.off[0];
  }
}

TEST_P(Laws, HoldWithAnyLimitOnFirings) {
  for (uint64_t n = 0; n < kTerms; n++) {
    Graph whole;
    Rewriting free(whole);
    ASSERT_NE(simple(free, make_term(whole, n)), nullptr);
    Graph g;
    const Ref before = make_term(g, n);
    Switches switches;
    switches.limit = uop::Random(n).below(free.firings() + 2);
    FiringJudge judge;
    Rewriting run(g, switches, &judge);
    const Ref after = simple(run, before);
    ASSERT_NE(after, nullptr);
    ASSERT_TRUE(refines(g, before, after, n)) << n << " at most " << switches.limit;
    // The same firings in the same order, up to the limit.
    ASSERT_EQ(run.firings(), std::min(switches.limit, free.firings())) << n;
    ASSERT_EQ(judge.firings(), run.firings()) << n;
  }
}

TEST_P(Laws, HoldFromTheTopDown) {
  uop::RewriteOptions options;
  options.order = uop::Order::TopDown;
  for (uint64_t n = 0; n < kTerms; n++) {
    Graph g;
    const Ref before = make_term(g, n);
    FiringJudge judge;
    Rewriting run(g, {}, &judge);
    const Result<Ref> after = run.rewrite(uop::symbolic_rules(), before, options);
    ASSERT_TRUE(after.ok()) << n << ": " << after.error().message << uop::shown(before, 40);
    ASSERT_EQ(judge.counterexample(), std::nullopt) << n;
    ASSERT_TRUE(refines(g, before, after.value(), n)) << n;
  }
}

std::vector<DType> all_types() {
  std::vector<DType> all;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    if (uop::kScalars.has(DType(i))) all.push_back(DType(i));
  }
  return all;
}

// The same of terms that RapidCheck draws: new ones in each run by hand, and smaller ones once one
// has failed.
TEST(DrawnTerms, KeepTheirMeaningAndStaySimple) {
  EXPECT_TRUE(rc::check("simplify() keeps the meaning, once and for all", [] {
    const DType t = *rc::gen::elementOf(all_types());
    const int size = *rc::gen::inRange(1, 24);
    const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<uint64_t>());
    Graph g;
    Choices choices(seed);
    const Ref before = TermMaker(g, choices).term(t, size);
    FiringJudge judge;
    Rewriting run(g, {}, &judge);
    const Ref after = simplify(run, before).value();
    RC_ASSERT(judge.counterexample().value_or("sound") == "sound");
    uop::Random random(seed);
    const uop::Judged judged = uop::judge(g, before, after, random, 100);
    RC_ASSERT(judged.counterexample.value_or("sound") == "sound");
    RC_ASSERT(simplify(run, after).value() == after);
  }));
}

INSTANTIATE_TEST_SUITE_P(Types, Laws, testing::ValuesIn(all_types()),
                         [](const testing::TestParamInfo<DType>& c) {
                           return std::string(to_text(c.param));
                         });

}  // namespace
}  // namespace assay::fuzz
