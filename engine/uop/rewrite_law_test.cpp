// That rewriting comes to an end: in an error where rules undo one another, in linear time on large
// graphs, and exactly at the limit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/uop/refines.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/simplify.h"

namespace assay::uop {
namespace {

using Rewriting = Run;  // within a TEST, Run is a function of GoogleTest

constexpr Order kOrders[] = {Order::BottomUp, Order::TopDown};

// The message of the error that rewriting with `set` ends in.
std::string trouble_of(const RuleSet& set, Graph& g, Ref root, Order order) {
  Rewriting run(g);
  RewriteOptions options;
  options.order = order;
  const RuleSet* const sets[] = {&set};
  const Result<Ref> result = run.rewrite(sets, root, options);
  return result.ok() ? "" : result.error().message;
}

const RuleSet& ping_pong() {
  const Pat x = any("x");
  const Pat y = any("y");
  static const RuleSet rules("game", {
                                         {"ping", kLogic, x && y, x || y},
                                         {"pong", kLogic, x || y, x && y},
                                     });
  return rules;
}

TEST(Rewrite, NamesBothRulesThatUndoEachOther) {  // B190
  for (const Order order : kOrders) {
    Graph g;
    const Ref u = g.alu(Op::And, {g.variable("x", I8), g.variable("y", I8)});
    const std::string trouble = trouble_of(ping_pong(), g, g.alu(Op::Neg, {u}), order);
    EXPECT_NE(trouble.find("game.ping"), std::string::npos) << trouble;
    EXPECT_NE(trouble.find("game.pong"), std::string::npos) << trouble;
  }
}

TEST(Rewrite, NamesRulesThatUndoEachOtherThroughTheirSources) {
  const Pat x = any("x");
  static const RuleSet rules("game", {
                                         {"wrap", kInts, Pat(Op::Neg, {x}), !(x - 1)},
                                         {"unwrap", kInts, !(x - 1), Pat(Op::Neg, {x})},
                                     });
  Graph g;
  const std::string trouble =
      trouble_of(rules, g, g.alu(Op::Neg, {g.variable("x", I8)}), Order::BottomUp);
  EXPECT_NE(trouble.find("game.wrap"), std::string::npos) << trouble;
  EXPECT_NE(trouble.find("game.unwrap"), std::string::npos) << trouble;
}

TEST(Rewrite, NamesTheRuleThatGrowsATermForever) {
  const Pat x = any("x");
  const Pat grown = Pat(Op::Neg, {x + 0 * x});
  static const RuleSet rules("ends", {{"never", kInts, Pat(Op::Neg, {x}), grown}});
  for (const Order order : kOrders) {
    Graph g;
    const Ref u = g.alu(Op::Neg, {g.variable("x", I8)});
    const std::string trouble = trouble_of(rules, g, u, order);
    EXPECT_NE(trouble.find("do not come to an end"), std::string::npos) << trouble;
    EXPECT_NE(trouble.find("ends.never"), std::string::npos) << trouble;
  }
}

TEST(Rewrite, ComesToAnEndOnDivisionByZero) {  // B189
  Graph g;
  const Ref a = g.variable("a", of_int(Index, 0), of_int(Index, 7));
  for (const Op op : {Op::Div, Op::Mod}) {
    const Ref u = g.alu(op, {a, g.constant(Index, 0)});
    Rewriting run(g);
    const Result<Ref> result = simplify(run, u);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_LT(run.firings(), 4U);
  }
}

TEST(Rewrite, NamesTheRuleThatWouldTurnDivisionByZeroForever) {  // B189, its mutant
  const Pat x = any("x");
  const Pat c = constant("c");
  const RuleSet mutant("div_mod", {{"div_by_negative", kIndex, x / c, (x * -1) / (0 - c), c <= 0}});
  Graph g;
  const Ref a = g.variable("a", of_int(Index, 0), of_int(Index, 7));
  Switches switches;
  switches.substitutes = {&mutant};
  Rewriting run(g, switches);
  const Result<Ref> result = simplify(run, g.alu(Op::Div, {a, g.constant(Index, 0)}));
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("div_mod.div_by_negative"), std::string::npos)
      << result.error().message;
}

// n additions to x0, each of what `next` gives.
template <typename Next>
Ref chain(Graph& g, int n, DType t, Next next) {
  Ref u = g.variable("x", t);
  for (int i = 0; i < n; i++) u = g.alu(Op::Add, {u, next(i)});
  return u;
}

Ref numbered(Graph& g, int i, DType t) { return g.variable(fmt::format("v{}", i), t); }

// Enough to overflow the stack of anything recursive, in builds that are slow too.
#ifdef __OPTIMIZE__
constexpr int kLong = 1000000;
#else
constexpr int kLong = 100000;
#endif

TEST(Simplify, ComesToAnEndOnALongChainOfAddsOfOneConstant) {
  Graph g;
  const Ref u = chain(g, kLong, I32, [&](int) { return g.constant(I32, 3); });
  Rewriting run(g);
  const Result<Ref> result = simplify(run, u);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result.value(),
            g.alu(Op::Add, {g.variable("x", I32), g.constant(I32, int64_t{3} * kLong)}));
}

TEST(Simplify, ComesToAnEndOnALongChainOfAddsOfDistinctVariables) {
  Graph g;
  const Ref u = chain(g, kLong, Index, [&](int i) { return numbered(g, i, Index); });
  Rewriting run(g);
  const Result<Ref> result = simplify(run, u);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_LT(run.visits() + run.firings(), uint64_t{8} * kLong);
}

TEST(Simplify, ComesToAnEndOnALongChainOfAddsOfConstantsAndVariables) {
  Graph g;
  const Ref u = chain(g, kLong, Index, [&](int i) {
    return i % 2 == 0 ? g.constant(Index, 1) : numbered(g, i, Index);
  });
  Rewriting run(g);
  const Result<Ref> result = simplify(run, u);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_LT(run.visits() + run.firings(), uint64_t{8} * kLong);
}

TEST(Simplify, ComesToAnEndOnAFanOfManySources) {
  constexpr int kWide = 100000;
  Graph g;
  std::vector<Ref> before;
  std::vector<Ref> after;
  for (int i = 0; i < kWide; i++) {
    after.push_back(numbered(g, i, F32));
    before.push_back(g.alu(Op::Mul, {after.back(), g.constant(F32, 1)}));
  }
  Rewriting run(g);
  const Result<Ref> result = simplify(run, g.make(Op::Group, Void, before));
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result.value(), g.make(Op::Group, Void, after));
  EXPECT_EQ(run.firings(), uint64_t{kWide});
}

// Firings and visits of simplifying what `make` makes of n.
template <typename Make>
uint64_t work(int n, Make make) {
  Graph g;
  const Ref u = make(g, n);
  Rewriting run(g);
  const Result<Ref> result = simplify(run, u);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return run.visits() + run.firings();
}

Ref selects(Graph& g, int n) {
  Ref u = g.variable("x", of_int(Index, 0), of_int(Index, 9));
  for (int i = 0; i < n; i++) {
    const Ref more = g.alu(Op::Add, {u, g.constant(Index, 1)});
    u = g.alu(Op::Where, {numbered(g, i, Bool), more, u});
  }
  return u;
}

Ref conjunctions(Graph& g, int n) {
  Ref u = numbered(g, 0, Bool);
  for (int i = 1; i < n; i++) {
    u = g.alu(Op::And, {u, g.alu(Op::Lt, {numbered(g, i, Index), g.constant(Index, i)})});
  }
  return u;
}

Ref gates(Graph& g, int n) {
  Ref u = g.constant(Index, 0);
  for (int i = 0; i < n; i++) {
    const Ref v = g.variable(fmt::format("v{}", i), of_int(Index, 0), of_int(Index, 9));
    const Ref c = g.alu(Op::Lt, {v, g.constant(Index, 5)});
    const Ref sum = g.alu(Op::Add, {u, v});
    u = g.alu(Op::Where, {c, sum, g.make(Op::Invalid, Index, {})});
  }
  return u;
}

TEST(Simplify, WalksASharedTermOnceInNestedSelects) {  // B194
  EXPECT_LT(work(40, selects), 40U * 100);
}

TEST(Simplify, WorksInProportionToTheSizeOfAGraph) {  // as in B191
  const auto adds = [](Graph& g, int n) {
    return chain(g, n, Index, [&](int i) { return numbered(g, i % 4, Index); });
  };
  EXPECT_LT(work(1600, adds), 8 * work(400, adds));
  EXPECT_LT(work(1600, selects), 8 * work(400, selects));
  EXPECT_LT(work(1600, conjunctions), 8 * work(400, conjunctions));
  EXPECT_LT(work(1600, gates), 8 * work(400, gates));
}

// Counts what fired, by the run's own count.
class FiringLog : public Watch {
 public:
  void seen(const RuleSeen& seen) override {
    count++;
    last = seen.firing;
    names.push_back(full_name(seen.set, seen.rule));
  }
  uint64_t count = 0;
  uint64_t last = 0;
  std::vector<std::string> names;
};

// A gate whose index is simplified by a rewrite within the rewrite.
Ref gated_index(Graph& g) {
  const Ref x = g.variable("x", of_int(Index, 0), of_int(Index, 99));
  const Ref c = g.alu(Op::Lt, {x, g.constant(Index, 8)});
  const Ref index = g.alu(Op::Mod, {x, g.constant(Index, 8)});
  return g.alu(Op::Where, {c, index, g.make(Op::Invalid, Index, {})});
}

TEST(Rewrite, CountsFiringsWithinARuleTowardsTheLimit) {
  Graph whole;
  Rewriting free(whole);
  ASSERT_TRUE(simplify(free, gated_index(whole)).ok());
  ASSERT_GT(free.firings(), 1U);
  for (uint64_t limit = 0; limit <= free.firings(); limit++) {
    Graph g;
    FiringLog counter;
    Switches switches;
    switches.limit = limit;
    Rewriting run(g, switches, &counter);
    ASSERT_TRUE(simplify(run, gated_index(g)).ok());
    EXPECT_EQ(run.firings(), limit);
    EXPECT_EQ(counter.count, limit);
    EXPECT_EQ(counter.last, limit);
  }
}

TEST(Rewrite, FiresNothingOnBehalfOfARuleThatIsOff) {
  Graph g;
  FiringLog counter;
  Switches switches;
  switches.off = {"validity.index_by_gate"};
  Rewriting run(g, switches, &counter);
  const Ref u = gated_index(g);
  const Result<Ref> result = simplify(run, u);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value(), u);
  EXPECT_EQ(counter.names, std::vector<std::string>());
}

TEST(Rewrite, TriesASubstituteOnlyWhereItsSetIsApplied) {
  const RuleSet substitute(
      "factor", {by(
                    "shared_factor", kInts, {Op::Add},
                    [](Rewriting& run, Ref u) { return run.graph().constant(u->dtype, 42); }, "")});
  Graph g;
  const Ref u = g.alu(Op::Add, {g.variable("x", I8), g.variable("y", I8)});
  Switches switches;
  switches.substitutes = {&substitute};
  Rewriting run(g, switches);
  const Result<Ref> symbolic = run.rewrite(symbolic_rules(), u);
  ASSERT_TRUE(symbolic.ok());
  EXPECT_EQ(symbolic.value(), u);
  const RuleSet* const factors[] = {&factor_rules()};
  const Result<Ref> factored = run.rewrite(factors, u);
  ASSERT_TRUE(factored.ok());
  EXPECT_EQ(factored.value(), g.constant(I8, 42));
}

TEST(Rewrite, SeesOperationsThatAppearOnTheWay) {
  Graph g;
  const Ref x = g.variable("x", I8);
  Rewriting run(g);
  const Result<Ref> result = simplify(run, g.alu(Op::Sub, {x, x}));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value(), g.constant(I8, 0));
}

TEST(Simplify, LeavesConjunctionsOfConjunctionsThatSayNothingOfEachOther) {
  Graph g;
  const Ref left = g.alu(Op::And, {numbered(g, 0, Bool), numbered(g, 1, Bool)});
  const Ref lt = g.alu(Op::Lt, {numbered(g, 2, F32), numbered(g, 3, F32)});
  const Ref right = g.alu(Op::And, {lt, numbered(g, 4, Bool)});
  Rewriting run(g);
  const Result<Ref> result = simplify(run, g.alu(Op::And, {left, right}));
  ASSERT_TRUE(result.ok()) << result.error().message;
  Random random(1);
  EXPECT_EQ(judge(g, g.alu(Op::And, {left, right}), result.value(), random, 500).counterexample,
            std::nullopt);
}

TEST(Bounds, AreThoseOfBothOperandsHoweverManyNodesThereAre) {
  for (int junk = 0; junk < 300; junk++) {
    Graph g;
    for (int i = 0; i < junk; i++) numbered(g, i, F64);
    const Ref x = g.variable("x", F64);
    EXPECT_EQ(bounds(g, g.alu(Op::Lt, {g.constant(F64, -1), x})), (Bounds{0, 1})) << junk;
  }
}

// Quotients and remainders of what lies at the ends of 64 bits.
std::vector<Ref> extreme_divisions(Graph& g) {
  const Ref v = g.variable("v", of_int(Index, -1), of_int(Index, 1));
  std::vector<Ref> all;
  for (const int64_t x : {INT64_MIN, INT64_MIN + 1, INT64_MAX}) {
    for (const int64_t d : {int64_t{2}, int64_t{3}, int64_t{24}, INT64_MAX}) {
      for (const Ref a : {g.constant(Index, x), g.alu(Op::Mul, {v, g.constant(Index, x)})}) {
        all.push_back(g.alu(Op::Div, {a, g.constant(Index, d)}));
        all.push_back(g.alu(Op::Mod, {a, g.constant(Index, d)}));
      }
    }
  }
  return all;
}

TEST(DivMod, RulesAreRightAtTheEndsOfWhatConstantsHold) {
  Graph g;
  Rewriting run(g);
  Random random(1);
  for (const Rule& rule : div_mod_rules().rules()) {
    for (const Ref before : extreme_divisions(g)) {
      const bool looks = rule.by != nullptr && rule.roots.has(before->op);
      const Ref after = looks ? rule.by(run, before) : nullptr;
      if (after == nullptr) continue;
      EXPECT_EQ(judge(g, before, after, random, 9).counterexample, std::nullopt);
    }
  }
}

TEST(Invalid, GateWithoutAValueSpeaksForNoOtherGate) {
  Graph g;
  const Ref n = g.variable("n", of_int(I8, -2), of_int(I8, 2));
  const Ref none = g.make(Op::Invalid, I8, {});
  const Ref quotient = g.alu(Op::Div, {g.constant(I8, 6), n});
  const Ref unspecified = g.alu(Op::Lt, {quotient, g.constant(I8, 3)});
  const Ref a = g.alu(Op::Where, {unspecified, n, none});
  const Ref b = g.alu(Op::Where, {g.variable("q", Bool), n, none});
  const Ref before = g.alu(Op::Max, {a, b});
  Rewriting run(g);
  const Result<Ref> after = simplify(run, before);
  ASSERT_TRUE(after.ok());
  Random random(1);
  const Judged judged = judge(g, before, after.value(), random, 500);
  EXPECT_EQ(judged.counterexample, std::nullopt);
  EXPECT_TRUE(judged.exhaustive);
  EXPECT_NE(after.value(), before);
}

}  // namespace
}  // namespace assay::uop
