// Public bugs of index simplification: division, remainders and comparisons.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "engine/uop/bounds.h"
#include "engine/uop/bug_check.h"
#include "engine/uop/rules/rules.h"

namespace assay::uop {
namespace {

Pat tdiv(const Pat& a, const Pat& b) { return Pat(Op::TDiv, {a, b}); }
Pat tmod(const Pat& a, const Pat& b) { return Pat(Op::TMod, {a, b}); }
// Folds a comparison as if a variable stayed below its upper bound.
Ref fold_below_open_end(Run& run, Ref u) {
  Graph& g = run.graph();
  const bool below = bounds(g, u->src[0]).hi - 1 < bounds(g, u->src[1]).lo;
  return below ? g.constant(Bool, 1) : nullptr;
}

// Both ends of a variable belong to it; a loop stops before its size.
TEST(IndexBugs, B071AVariableReachesItsUpperBound) {
  const Trigger at_end = {"(< p 128)", {{"p", Index, 0, 128}}};
  const Trigger loop = {"(< p 128)", {{"p", Index, 0, 127, {}, true}}};
  const Right right = of_ints(Bool, [](const auto& v) { return v[0] < 128; });
  EXPECT_TRUE(simplifies_right({}, at_end, right));
  EXPECT_TRUE(simplifies_right({}, loop, right));
  Graph g;
  EXPECT_EQ(bounds(g, g.variable("p", of_int(Index, 0), of_int(Index, 128))), (Bounds{0, 128}));
  EXPECT_EQ(bounds(g, g.make(Op::Range, Index, {g.constant(Index, 128)}, {})), (Bounds{0, 127}));
  EXPECT_TRUE(is_const(simplified(g, trigger_graph(g, loop))));

  const RuleSet mutant("fold", {by("single_value", kScalars, {Op::Lt}, fold_below_open_end,
                                   "a variable stays below its upper bound")});
  EXPECT_FALSE(simplifies_right(with(mutant), at_end, right));
}

TEST(IndexBugs, B073AQuotientBelowANegativeBoundCutsTowardsZero) {
  const auto [x, y, c, d, m] = Holes();
  const Trigger cut = {"(< (tdiv (+ i -20) 4) -3)", {{"i", Index, 0, 24}}};
  const Right below_five = of_ints(Bool, [](const auto& v) { return v[0] < 5; });
  const Trigger floor = {"(< (// (+ i -20) 4) -3)", {{"i", Index, 0, 24}}};
  const Right below_eight = of_ints(Bool, [](const auto& v) { return v[0] < 8; });
  EXPECT_TRUE(simplifies_right({}, cut, below_five));
  EXPECT_TRUE(simplifies_right({}, floor, below_eight));

  const RuleSet mutant("compare",
                       {{"lt_of_cut_quotient", kIndex, tdiv(x, c) < d, x < d * c, c > 0}});
  EXPECT_FALSE(simplifies_right(with(mutant), cut, below_five));
  const RuleSet other("compare",
                      {{"lt_of_quotient", kIndex, x / c < d, x < d * c - (c - 1), c > 0}});
  EXPECT_FALSE(simplifies_right(with(other), floor, below_eight));
}

TEST(IndexBugs, B074ANegativeDividendIsNotFoldedAsIfItWerePositive) {
  const auto [x, y, c, d, m] = Holes();
  const Trigger trigger = {"(tdiv (* i -10) 11)", {{"i", Index, 0, 9}}};
  const Right right = of_ints(Index, [](const auto& v) { return -(v[0] * 10 / 11); });
  EXPECT_TRUE(simplifies_right({}, trigger, right));
  const RuleSet mutant("div_mod", {{"tdiv_to_div", kInts, tdiv(x, y), x / y}});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, right));
}

TEST(IndexBugs, B075NestedQuotientsMeetOnlyIfTheOuterDivisorIsPositive) {
  const auto [x, y, c, d, m] = Holes();
  const std::vector<Leaf> leaves = {{"x", Index, 0, 124}};
  const Trigger first = {"(// (// x 2) -3)", leaves};
  const Trigger second = {"(// (// x -2) -3)", leaves};
  const auto quotient = [](int64_t inner) {
    return of_ints(
        Index, [inner](const auto& v) { return floor_quotient(floor_quotient(v[0], inner), -3); });
  };
  EXPECT_TRUE(simplifies_right({}, first, quotient(2)));
  EXPECT_TRUE(simplifies_right({}, second, quotient(-2)));
  const RuleSet mutant("div_mod",
                       {{"div_of_div", kIndex, (x / c) / d, x / (c * d), c != 0 && d != 0}});
  EXPECT_FALSE(simplifies_right(with(mutant), first, quotient(2)));
  EXPECT_FALSE(simplifies_right(with(mutant), second, quotient(-2)));
}

// x*c < d as x < d / c, worked out in doubles.
Ref limit_in_doubles(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref product = u->src[0];
  if (product->op != Op::Mul || !is_const(u->src[1])) return nullptr;
  const auto factor = static_cast<double>(as_int(product->src[1]->value()));
  const auto end = static_cast<double>(as_int(u->src[1]->value()));
  const auto limit = static_cast<int64_t>(std::ceil(end / factor));
  return g.alu(Op::Lt, {product->src[0], g.constant(Index, limit)});
}

TEST(IndexBugs, B077LimitsAreExactBeyondTheIntegersOfADouble) {
  constexpr int64_t kLimit = (int64_t{1} << 54) + 1;
  constexpr int64_t kHalf = int64_t{1} << 53;
  const Trigger trigger = {
      "(< (* x 2) 18014398509481985)",
      {{"x", Index, 0, kLimit,
        values_of(Index, {0, kHalf - 1, kHalf, kHalf + 1, kHalf + 2, kLimit})}}};
  const Right right = of_ints(Bool, [](const auto& v) { return v[0] < kHalf + 1; });
  EXPECT_TRUE(simplifies_right({}, trigger, right));

  const RuleSet mutant("compare", {by("lt_of_product", kIndex, {Op::Lt}, limit_in_doubles,
                                      "x*c < d is x < d / c in doubles")});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, right));
}

TEST(IndexBugs, B078ARemainderOfAProductKeepsWhatTheModulusLeaves) {
  const auto [x, y, c, d, m] = Holes();
  const Trigger trigger = {"(% (% (* a 5) 12) 5)", {{"a", Index, 0, 31}}};
  const Right right = of_ints(Index, [](const auto& v) { return v[0] * 5 % 12 % 5; });
  EXPECT_TRUE(simplifies_right({}, trigger, right));
  const RuleSet mutant("div_mod",
                       {{"mod_of_product", kIndex, ((x * c) % d) % c, 0, c > 0 && d > 0}});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, right));
}

// Folds a remainder as if it lay between 0 and the divisor that is nearest to it.
Ref fold_nearest_divisor(Run& run, Ref u) {
  Graph& g = run.graph();
  return bounds(g, u->src[1]).hi == -1 ? g.constant(Index, 0) : nullptr;
}

// Bounds of remainders by a divisor that lies between -10 and -1.
TEST(IndexBugs, B079ARemainderByANegativeDivisorReachesTheFarthestEnd) {
  const std::vector<Leaf> leaves = {{"x", Index, 0, 10}, {"y", Index, -10, -1}};
  const Trigger cut = {"(tmod x y)", leaves};
  const Trigger floor = {"(% x y)", leaves};
  const Right cut_right = of_ints(Index, [](const auto& v) { return v[0] % v[1]; });
  const Right floor_right =
      of_ints(Index, [](const auto& v) { return floor_remainder(v[0], v[1]); });
  EXPECT_TRUE(simplifies_right({}, cut, cut_right));
  EXPECT_TRUE(simplifies_right({}, floor, floor_right));
  Graph g;
  EXPECT_EQ(bounds(g, trigger_graph(g, cut)), (Bounds{0, 9}));
  EXPECT_EQ(bounds(g, trigger_graph(g, floor)), (Bounds{-9, 0}));

  const RuleSet mutant("fold",
                       {by("single_value", kScalars, {Op::Mod, Op::TMod}, fold_nearest_divisor,
                           "a remainder lies between 0 and the nearest divisor")});
  EXPECT_FALSE(simplifies_right(with(mutant), cut, cut_right));
  EXPECT_FALSE(simplifies_right(with(mutant), floor, floor_right));
}

// x // d as (x*m) >> s, where every x up to the bound has the quotient of its product. Without the
// early exit the search starts from a negative number where no x reaches d, and takes s = 0.
template <bool kHasEarlyExit>
Ref multiply_and_shift(Run& run, Ref u) {
  Graph& g = run.graph();
  if (!is_const(u->src[1]) || u->dtype != I32) return nullptr;
  const Int128 most = bounds(g, u->src[0]).hi;
  const Int128 d = as_int(u->src[1]->value());
  if (kHasEarlyExit && most < d) return g.constant(u->dtype, 0);
  const Int128 last = (most + 1) / d * d - 1;
  for (int s = 0; s < 32; s++) {
    const Int128 power = Int128{1} << s;
    const Int128 missing = d - 1 - (power - 1) % d;
    if (power <= last * missing) continue;
    const auto m = static_cast<int64_t>((power + missing) / d);
    const Ref product = g.alu(Op::Mul, {u->src[0], g.constant(u->dtype, m)});
    return g.alu(Op::Shr, {product, g.constant(u->dtype, s)});
  }
  return nullptr;
}

TEST(IndexBugs, B082AQuotientOfLessThanTheDivisorIsZero) {
  // Tried before bounds are looked at.
  const RuleSet sound("fold", {by("multiply_and_shift", kInts, {Op::Div}, multiply_and_shift<true>,
                                  "x // c is (x*m) >> s")});
  const RuleSet mutant("fold", {by("multiply_and_shift", kInts, {Op::Div},
                                   multiply_and_shift<false>, "x // c is (x*m) >> s")});
  const Right zero = of_ints(I32, [](const auto&) { return 0; });
  const std::pair<int64_t, std::string_view> triggers[] = {
      {1, "(// x 3)"}, {3, "(// x 5)"}, {5, "(// x 7)"}};
  for (const auto& [most, text] : triggers) {
    const Trigger trigger = {text, {{"x", I32, 0, most}}, I32};
    EXPECT_TRUE(simplifies_right({}, trigger, zero));
    EXPECT_TRUE(simplifies_right(with(sound), trigger, zero));
    EXPECT_FALSE(simplifies_right(with(mutant), trigger, zero));
  }
  // Where the divisor is reached, both are right.
  const Trigger longer = {"(// x 7)", {{"x", I32, 0, 100}}, I32};
  const Right seventh = of_ints(I32, [](const auto& v) { return v[0] / 7; });
  EXPECT_TRUE(simplifies_right(with(mutant), longer, seventh));
}

// The vector of lanes 0..7 that starts at 50t + 8i wraps in its middle.
TEST(IndexBugs, B086LanesThatWrapAreNoRamp) {
  const auto [x, y, c, d, m] = Holes();
  const Trigger trigger = {"(% (+ (+ (* t 50) (* i 8)) lane) 20)",
                           {{"t", Index, 0, 3}, {"i", Index, 0, 3}, {"lane", Index, 0, 7}}};
  const Right right =
      of_ints(Index, [](const auto& v) { return (v[0] * 50 + v[1] * 8 + v[2]) % 20; });
  EXPECT_TRUE(simplifies_right({}, trigger, right));
  const Pat base = any("base");
  const Pat ramp = (base + x) % c;
  const Pat scalar = base % c + x;
  // Looks at the first base alone.
  const RuleSet mutant(
      "div_mod", {{"ramp", kIndex, ramp, scalar,
                   lo(x) == 0 && hi(x) == 7 && lo(base) / c == 0 && (lo(base) + hi(x)) / c == 0}});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, right));
  // Looks at all bases and lanes.
  const RuleSet sound("div_mod", {{"ramp", kIndex, ramp, scalar,
                                   lo(x) >= 0 && lo(base) >= 0 && hi(base) + hi(x) < c}});
  EXPECT_TRUE(simplifies_right(with(sound), trigger, right));
}

TEST(IndexBugs, B087AConstantLeavesACutQuotientOnlyIfNothingIsNegative) {
  const auto [x, y, c, d, m] = Holes();
  const Trigger trigger = {"(tdiv (+ (* x 48) 241) 16)", {{"x", Index, -10, 10}}};
  const Right right = of_ints(Index, [](const auto& v) { return (241 + 48 * v[0]) / 16; });
  EXPECT_TRUE(simplifies_right({}, trigger, right));
  const RuleSet mutant(
      "div_mod", {{"split_constant", kIndex, tdiv(x + c, d), tdiv(x, d) + c / d, c > 0 && d > 0}});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, right));
}

TEST(IndexBugs, B089MultiplesOfTheModulusStayIfTheRestMayBeNegative) {
  const auto [x, y, c, d, m] = Holes();
  const std::vector<Leaf> leaves = {{"k", Index, 0, 3}, {"r", Index, -3, 3}};
  const Trigger cut = {"(tmod (tdiv (+ (* k 4) r) 2) 2)", leaves};
  const Trigger floor = {"(% (// (+ (* k 4) r) 2) 2)", leaves};
  const Right cut_right = of_ints(Index, [](const auto& v) { return (v[0] * 4 + v[1]) / 2 % 2; });
  const Right floor_right =
      of_ints(Index, [](const auto& v) { return floor_remainder(floor_quotient(v[1], 2), 2); });
  EXPECT_TRUE(simplifies_right({}, cut, cut_right));
  EXPECT_TRUE(simplifies_right({}, floor, floor_right));
  const RuleSet mutant("div_mod", {{"strip", kIndex, tmod(tdiv(x * c + y, d), m),
                                    tmod(tdiv(y, d), m), d > 0 && m > 0 && c % (d * m) == 0}});
  EXPECT_FALSE(simplifies_right(with(mutant), cut, cut_right));
}

// Neither a quotient nor a remainder by zero has a value: both stay for others to report.
TEST(IndexBugs, B189DivisionByZeroStaysAndComesToAnEnd) {
  const auto [x, y, c, d, m] = Holes();
  const auto stays = [](const Switches& switches) {
    bool all = true;
    for (const Op op : {Op::Div, Op::Mod, Op::TDiv, Op::TMod}) {
      Graph g;
      const Ref a = g.variable("a", of_int(Index, 0), of_int(Index, 7));
      const Ref u = g.alu(op, {a, g.constant(Index, 0)});
      all = all && simplified(g, u, switches) == u;
    }
    return all;
  };
  EXPECT_TRUE(stays({}));
  const RuleSet mutant("div_mod", {{"div_by_negative", kIndex, x / c, (x * -1) / (0 - c), c <= 0}});
  EXPECT_FALSE(stays(with(mutant)));
}

}  // namespace
}  // namespace assay::uop
