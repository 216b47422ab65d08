#include "engine/uop/dim.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/uop/eval.h"
#include "engine/uop/test_terms.h"

namespace assay::uop {
namespace {

// What a term of at most one variable is where the variable has a value.
int64_t value_at(Graph& g, Ref term, int64_t n) {
  Evaluator evaluator(g, term);
  const std::vector<Value> leaves(evaluator.leaves().size(), of_int(Index, n));
  const Cell cell = evaluator.run(leaves);
  EXPECT_TRUE(cell.defined());
  return static_cast<int64_t>(as_int(cell.value));
}

TEST(Dim, FoldsConstants) {
  Graph g;
  const Ref a = dim(g, 7);
  const Ref b = dim(g, -3);
  EXPECT_EQ(dim_add(g, a, b), dim(g, 4));
  EXPECT_EQ(dim_sub(g, a, b), dim(g, 10));
  EXPECT_EQ(dim_mul(g, a, b), dim(g, -21));
  EXPECT_EQ(dim_div(g, a, dim(g, 2)), dim(g, 3));
  EXPECT_EQ(dim_div(g, b, dim(g, 2)), dim(g, -2));
}

TEST(Dim, DropsWhatDoesNothing) {
  Graph g;
  const Ref n = variable(g, "n", 0, 16);
  const Ref zero = dim(g, 0);
  const Ref one = dim(g, 1);
  EXPECT_EQ(dim_add(g, n, zero), n);
  EXPECT_EQ(dim_add(g, zero, n), n);
  EXPECT_EQ(dim_sub(g, n, zero), n);
  EXPECT_EQ(dim_sub(g, n, n), zero);
  EXPECT_EQ(dim_mul(g, n, one), n);
  EXPECT_EQ(dim_mul(g, one, n), n);
  EXPECT_EQ(dim_mul(g, n, zero), zero);
  EXPECT_EQ(dim_div(g, n, one), n);
}

TEST(Dim, ReachesOneTermFromEitherOrder) {
  Graph g;
  const Ref n = variable(g, "n", 0, 16);
  const Ref m = variable(g, "m", 0, 16);
  const Ref three = dim(g, 3);
  const Ref four = dim(g, 4);
  EXPECT_EQ(dim_add(g, n, m), dim_add(g, m, n));
  EXPECT_EQ(dim_mul(g, n, three), dim_mul(g, three, n));
  EXPECT_EQ(dim_add(g, dim_add(g, n, three), four), dim_add(g, n, dim(g, 7)));
  EXPECT_EQ(dim_sub(g, dim_add(g, n, three), three), n);
  EXPECT_EQ(dim_mul(g, dim_mul(g, n, three), four), dim_mul(g, n, dim(g, 12)));
  EXPECT_EQ(dim_div(g, dim_mul(g, n, dim(g, 12)), four), dim_mul(g, n, three));
}

TEST(Dim, KeepsWhatLeaves64BitsAsATerm) {
  Graph g;
  const Ref most = dim(g, std::numeric_limits<int64_t>::max());
  const Ref least = dim(g, std::numeric_limits<int64_t>::min());
  const Ref n = variable(g, "n", 0, 16);
  EXPECT_EQ(dim_add(g, most, dim(g, 1))->op, Op::Add);
  EXPECT_EQ(dim_mul(g, most, dim(g, 2))->op, Op::Mul);
  EXPECT_EQ(dim_sub(g, n, least)->op, Op::Sub);
  EXPECT_GT(bounds(g, dim_add(g, most, dim(g, 1))).hi, max_int(Index));
}

TEST(Dim, BecomesAnIndexFromAnyInteger) {
  Graph g;
  const Ref r = g.make(Op::Range, I32, {g.constant(I32, 4)}, Arg::axis(0, AxisType::Loop));
  EXPECT_EQ(as_dim(g, g.constant(I32, -4)), dim(g, -4));
  EXPECT_EQ(as_dim(g, r)->dtype, Index);
  EXPECT_EQ(bounds(g, as_dim(g, r)), (Bounds{0, 3}));
}

using Ceiling = Ref (*)(Graph&, Ref, Ref);

// The sources of bug B067: -(x // -d) under a division that cuts towards zero.
Ref truncating_ceiling(Graph& g, Ref x, Ref d) {
  const Ref negative = g.alu(Op::Neg, {d});
  const Ref quotient = g.alu(Op::TDiv, {x, negative});
  return g.alu(Op::Neg, {quotient});
}

// How often a window of `kernel` fits at strides of 6 into n with a padding of 3 at both ends,
// for a symbolic n, against counting the places.
bool counts_windows(Ceiling ceiling, int64_t kernel) {
  Graph g;
  const Ref n = variable(g, "n", 11, 100);
  const Ref places = dim_add(g, n, dim(g, 6 - kernel + 1));
  const Ref length = ceiling(g, places, dim(g, 6));
  bool right = true;
  for (int64_t value = 11; value <= 100; value++) {
    int64_t count = 0;
    for (int64_t at = 0; at + kernel <= value + 6; at += 6) count++;
    right = right && value_at(g, length, value) == count;
  }
  return right;
}

TEST(Dim, RoundsUpWhenDividingUp) {
  Graph g;
  for (int64_t x = -20; x <= 40; x++) {
    for (int64_t d = 1; d <= 9; d++) {
      int64_t least = -30;
      while (least * d < x) least++;
      EXPECT_EQ(ceil_div(g, dim(g, x), dim(g, d)), dim(g, least)) << x << " over " << d;
    }
  }
}

TEST(Dim, CountsTheWindowsOfB067) {
  Graph g;
  const Ref n = variable(g, "n", 11, 100);
  const Ref length = ceil_div(g, dim_add(g, n, dim(g, 6 - 12 + 1)), dim(g, 6));
  EXPECT_EQ(value_at(g, length, 79), 13);
  EXPECT_TRUE(counts_windows(ceil_div, 12));
  EXPECT_TRUE(counts_windows(ceil_div, 5));
  EXPECT_FALSE(counts_windows(truncating_ceiling, 12));
}

TEST(Dim, BoundsSums) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const Ref m = variable(g, "m", -2, 3);
  const Ref free = g.variable("free", Index);
  EXPECT_EQ(bounds(g, dim_add(g, n, m)), (Bounds{-1, 19}));
  EXPECT_EQ(bounds(g, dim_sub(g, n, m)), (Bounds{-2, 18}));
  EXPECT_EQ(bounds(g, dim_mul(g, n, m)), (Bounds{-32, 48}));
  EXPECT_EQ(bounds(g, dim_div(g, m, dim(g, 2))), (Bounds{-1, 1}));
  EXPECT_EQ(bounds(g, g.alu(Op::Max, {n, m})), (Bounds{1, 16}));
  EXPECT_EQ(bounds(g, g.alu(Op::Min, {n, m})), (Bounds{-2, 3}));
  EXPECT_EQ(bounds(g, g.make(Op::Bind, Index, {n, dim(g, 4)})), (Bounds{1, 16}));
  EXPECT_LT(bounds(g, free).lo, min_int(Index));
  EXPECT_GT(bounds(g, free).hi, max_int(Index));
  EXPECT_EQ(bounds(g, dim_mul(g, free, dim(g, 0))), (Bounds{0, 0}));
}

// An infinite end stays one: the difference of a free size and a huge one has no bound.
TEST(Dim, KeepsInfiniteEndsInfinite) {
  Graph g;
  const Ref free = g.variable("free", Index);
  const Ref half = g.make(Op::Div, Index, {free, dim(g, 1 << 20)});
  const Ref less = dim_sub(g, half, variable(g, "n", 0, std::numeric_limits<int64_t>::max()));
  EXPECT_GT(bounds(g, less).hi, max_int(Index));
  EXPECT_LT(bounds(g, less).lo, min_int(Index));
}

Ref random_term(Graph& g, Ref n, int steps) {
  std::vector<Ref> terms = {n, dim(g, *rc::gen::inRange(-4, 9))};
  for (int i = 0; i < steps; i++) {
    const Ref a = terms[*rc::gen::inRange<size_t>(0, terms.size())];
    const Ref b = terms[*rc::gen::inRange<size_t>(0, terms.size())];
    const Ref d = dim(g, *rc::gen::inRange(1, 6));
    switch (*rc::gen::inRange(0, 7)) {
      case 0: terms.push_back(dim_add(g, a, b)); break;
      case 1: terms.push_back(dim_sub(g, a, b)); break;
      case 2: terms.push_back(dim_mul(g, a, b)); break;
      case 3: terms.push_back(dim_div(g, a, d)); break;
      case 4: terms.push_back(ceil_div(g, a, d)); break;
      case 5: terms.push_back(g.alu(Op::Max, {a, b})); break;
      default: terms.push_back(g.alu(Op::Min, {a, b})); break;
    }
  }
  return terms.back();
}

TEST(Dim, BoundsHoldEveryValue) {
  const bool holds = rc::check("bounds and differences hold every value", [] {
    Graph g;
    const int64_t hi = *rc::gen::inRange(1, 12);
    const Ref n = variable(g, "n", -3, hi);
    const Ref a = random_term(g, n, 5);
    const Ref b = random_term(g, n, 5);
    const Bounds difference = dim_difference(g, a, b);
    bool meet = false;
    for (int64_t value = -3; value <= hi; value++) {
      const int64_t x = value_at(g, a, value);
      const int64_t y = value_at(g, b, value);
      RC_ASSERT(may_be(bounds(g, a), x));
      RC_ASSERT(may_be(difference, Int128{x} - y));
      meet = meet || x == y;
    }
    RC_ASSERT(!meet || may_equal(g, a, b));
  });
  EXPECT_TRUE(holds);
}

TEST(Dim, CancelsEqualTerms) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const Ref m = variable(g, "m", 1, 16);
  const Ref sum = dim_add(g, n, m);
  EXPECT_EQ(dim_difference(g, dim_add(g, sum, dim(g, 2)), dim_add(g, m, n)), (Bounds{2, 2}));
  EXPECT_EQ(dim_difference(g, dim_add(g, n, n), dim_mul(g, n, dim(g, 2))), (Bounds{0, 0}));
  EXPECT_FALSE(may_equal(g, n, dim_add(g, n, dim(g, 1))));
  EXPECT_TRUE(may_equal(g, n, m));
  EXPECT_FALSE(may_equal(g, n, dim(g, 17)));
}

TEST(Dim, CancelsEqualFactors) {
  Graph g;
  const Ref n = variable(g, "n", 0, 16);
  const Ref m = variable(g, "m", 20, 30);
  const auto agree = [&](std::vector<Ref> a, std::vector<Ref> b) {
    return products_may_equal(g, a, b);
  };
  const Ref n4 = dim_mul(g, n, dim(g, 4));
  EXPECT_TRUE(agree({n, dim(g, 3)}, {dim(g, 3), n}));
  EXPECT_FALSE(agree({n, dim(g, 3)}, {n, dim(g, 4)}));
  EXPECT_TRUE(agree({n4}, {dim(g, 2), n, dim(g, 2)}));
  EXPECT_FALSE(agree({n4}, {dim(g, 6)}));
  EXPECT_TRUE(agree({n4}, {dim(g, 8)}));
  EXPECT_FALSE(agree({n}, {m}));
  EXPECT_TRUE(agree({dim(g, 0), m}, {n, dim(g, 0)}));
  EXPECT_FALSE(agree({dim(g, 0)}, {m}));
  EXPECT_TRUE(agree({dim(g, 0)}, {n}));
  const Ref big = dim(g, int64_t{1} << 40);
  EXPECT_FALSE(agree({big, big, dim(g, 0)}, {dim(g, 7)}));
  EXPECT_TRUE(agree({}, {dim(g, 1)}));
  EXPECT_FALSE(agree({}, {dim(g, 2)}));
}

// A product that is as long as 2^60 paths is looked into for a bounded number of steps.
TEST(Dim, TakesSharedTermsAsTheyStand) {
  Graph g;
  Ref sum = variable(g, "n", 1, 2);
  Ref product = sum;
  for (int i = 0; i < 60; i++) sum = dim_add(g, sum, sum);
  for (int i = 0; i < 60; i++) product = dim_mul(g, product, product);
  EXPECT_EQ(dim_difference(g, sum, sum), (Bounds{0, 0}));
  EXPECT_TRUE(products_may_equal(g, {&product, 1}, {&product, 1}));
  EXPECT_FALSE(may_equal(g, sum, dim(g, 5)));
}

}  // namespace
}  // namespace assay::uop
