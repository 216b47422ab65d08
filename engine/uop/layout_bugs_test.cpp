// Public bugs of index arithmetic that layouts, launches and widths lead to.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/uop/bounds.h"
#include "engine/uop/bug_check.h"
#include "engine/uop/eval.h"
#include "engine/uop/sum.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

// The two indices of a grid as terms of the launch's indices g0, g1, g2.
struct Unflattened {
  std::string_view first;
  std::string_view second;
};

// The two indices count through the grid's rows, in the order of the launch.
bool counts_through(const Unflattened& indices, const std::vector<Leaf>& launch, int64_t columns) {
  const std::vector<int64_t> strides = launch.size() == 2
                                           ? std::vector<int64_t>{launch[1].hi + 1, 1}
                                           : std::vector<int64_t>{1024, 64, 1};
  const auto is = [&](std::string_view text, auto part) {
    Graph g;
    Evaluator simple(g, simplified(g, trigger_graph(g, {text, launch})));
    for (const auto& point : points_of({text, launch})) {
      std::vector<Value> values;
      for (const Ref leaf : simple.leaves()) {
        values.push_back(point[static_cast<size_t>(leaf->arg.name()[1] - '0')]);
      }
      int64_t flat = 0;
      for (size_t i = 0; i < strides.size(); i++) {
        flat += static_cast<int64_t>(as_int(point[i])) * strides[i];
      }
      if (as_int(simple.run(values).value) != part(flat)) return false;
    }
    return true;
  };
  return is(indices.first, [&](int64_t flat) { return flat / columns; }) &&
         is(indices.second, [&](int64_t flat) { return flat % columns; });
}

// A grid of 65536 by 2 launched as 32768 by 4, and one of 128 by 128 launched as 16 by 16 by 64.
TEST(LayoutBugs, B085AGridIsRebuiltFromWhatIsLaunched) {
  const std::vector<Leaf> two = {
      {"g0", Index, 0, 32767, values_of(Index, {0, 1, 2, 16383, 32766, 32767})},
      {"g1", Index, 0, 3}};
  EXPECT_TRUE(counts_through({"(// (+ (* g0 4) g1) 2)", "(% (+ (* g0 4) g1) 2)"}, two, 2));
  EXPECT_FALSE(counts_through({"g0", "g1"}, two, 2));

  const std::vector<Leaf> three = {
      {"g0", Index, 0, 15}, {"g1", Index, 0, 15}, {"g2", Index, 0, 63}};
  EXPECT_TRUE(counts_through(
      {"(// (+ (* (+ (* g0 16) g1) 64) g2) 128)", "(% (+ (* (+ (* g0 16) g1) 64) g2) 128)"}, three,
      128));
  EXPECT_FALSE(counts_through({"(+ (* g0 16) g1)", "g2"}, three, 128));
}

// Takes the constant from a gated index.
Ref without_offset(Run& run, Ref u) {
  Graph& g = run.graph();
  if (u->src[2]->op != Op::Invalid) return nullptr;
  std::optional<Sum> sum = sum_of(g, u->src[1]);
  if (!sum || sum->constant == 0) return nullptr;
  sum->constant = 0;
  return g.make(Op::Where, u->dtype, {u->src[0], build(g, *sum), u->src[2]});
}

// Two rows of padding stand before two of data; the rows are split in two by two and merged again.
TEST(LayoutBugs, B090MergingAMaskedAxisKeepsTheOffset) {
  const Trigger trigger = {
      "(where (>= (+ (* (% (// i 2) 2) 2) (% i 2)) 2)"
      " (+ (* (+ (+ (* (% (// i 2) 2) 2) (% i 2)) -2) 25) (+ (* j 5) k)) invalid)",
      {{"i", Index, 0, 3}, {"j", Index, 0, 4}, {"k", Index, 0, 4}}};
  const Right right = [](std::span<const Value> v) -> std::optional<Value> {
    const Int128 i = as_int(v[0]);
    if (i < 2) return std::nullopt;
    return of_int(Index, i * 25 + as_int(v[1]) * 5 + as_int(v[2]) - 50);
  };
  EXPECT_TRUE(simplifies_right({}, trigger, right));
  const RuleSet offset("validity", {by("index_by_gate", kIndex, {Op::Where}, without_offset,
                                       "an index needs no offset where its gate holds")});
  EXPECT_FALSE(simplifies_right(with(offset), trigger, right));
  const auto [x, y, c, d, m] = Holes();
  const RuleSet mask("validity", {{"index_by_gate", kIndex, where(x, y, invalid()), y}});
  EXPECT_FALSE(simplifies_right(with(mask), trigger, right));
}

// c < f*X + R as if R were not there.
Ref without_rest(Run& run, Ref u) {
  Graph& g = run.graph();
  if (!is_const(u->src[0])) return nullptr;
  const std::optional<Sum> sum = sum_of(g, u->src[1]);
  if (!sum || sum->count != 2) return nullptr;
  Sum coarse;
  for (const Sum::Term& t : sum->terms()) {
    if (t.factor > 1) coarse.add(g, t.atom, t.factor);
  }
  if (coarse.count != 1) return nullptr;
  return g.alu(Op::Lt, {u->src[0], build(g, coarse)});
}

// [1, 2] padded to [[0, 0, 0], [1, 2, 0]] and read as three rows of two.
TEST(LayoutBugs, B091AMaskIsSplitOnlyWhereTheSizesDivide) {
  const std::vector<Leaf> leaves = {{"a", Index, 0, 2}, {"b", Index, 0, 1}};
  const Trigger trigger = {
      "(where (and (>= (// (+ (* a 2) b) 3) 1) (< (% (+ (* a 2) b) 3) 2))"
      " (% (+ (* a 2) b) 3) invalid)",
      leaves};
  const Right right = [](std::span<const Value> v) -> std::optional<Value> {
    const Int128 flat = as_int(v[0]) * 2 + as_int(v[1]);
    if (flat < 3 || flat == 5) return std::nullopt;
    return of_int(Index, flat - 3);
  };
  EXPECT_TRUE(simplifies_right({}, trigger, right));
  const RuleSet mutant("compare",
                       {by("lt_coarse", kIndex, {Op::Lt}, without_rest, "c < f*X + R is c < f*X")});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, right));
}

TEST(LayoutBugs, B091AnEmptyMaskStaysEmpty) {
  const Trigger trigger = {"(where (< (// f 5) 0) (% f 5) invalid)", {{"f", Index, 0, 19}}};
  const Right nothing = [](std::span<const Value>) { return std::nullopt; };
  EXPECT_TRUE(simplifies_right({}, trigger, nothing));
  Graph g;
  EXPECT_EQ(simplified(g, trigger_graph(g, trigger))->op, Op::Invalid);
  const auto [x, y, c, d, m] = Holes();
  // Tried before bounds are looked at.
  const RuleSet mutant("fold", {{"lt_of_quotient", kIndex, x / c < d, x < (d + 1) * c, c > 0}});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, nothing));
}

// The index type that a term needs: what the bounds of all it is made of fit in.
DType by_all_bounds(Graph& g, Ref root) {
  for (const Ref u : toposort(g, root)) {
    const Bounds b = bounds(g, u);
    if (!fits(I32, b.lo) || !fits(I32, b.hi)) return I64;
  }
  return I32;
}
DType by_last_bounds(Graph& g, Ref root) {
  const Bounds b = bounds(g, root);
  return fits(I32, b.lo) && fits(I32, b.hi) ? I32 : I64;
}
// 2048 * 2048 bytes are read.
DType by_buffer(Graph&, Ref) { return I32; }

TEST(LayoutBugs, B093AnIndexIsAsWideAsItsWidestPart) {
  const auto is_right = [](DType (*index_type)(Graph&, Ref)) {
    const std::vector<Leaf> leaves = {
        {"i", Index, 0, 521}, {"j", Index, 0, 2047}, {"k", Index, 0, 2047}};
    const auto type_of = [&](const Trigger& trigger) {
      Graph g;
      return index_type(g, simplified(g, trigger_graph(g, trigger)));
    };
    const std::string store = "(+ (* i 4194304) (+ (* j 2048) k))";
    // The second passes 2^31 on its way only; what the third would pass is simplified away.
    return type_of({store, leaves}) == I64 &&
           type_of({"(// " + store + " 4194305)", leaves}) == I64 &&
           type_of({"(// (+ (* i 65535) j) 65535)",
                    {{"i", Index, 0, 65534}, {"j", Index, 0, 65534}}}) == I32;
  };
  EXPECT_TRUE(is_right(by_all_bounds));
  EXPECT_FALSE(is_right(by_last_bounds));
  EXPECT_FALSE(is_right(by_buffer));
}

// Does the arithmetic of an i64 as if it were of an index of 32 bits.
Ref multiply_as_i32(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref a = g.make(Op::Cast, I32, {u->src[0]});
  const Ref b = g.make(Op::Cast, I32, {u->src[1]});
  return g.make(Op::Cast, I64, {g.alu(Op::Mul, {a, b})});
}

TEST(LayoutBugs, B094ArithmeticOfValuesKeepsItsType) {
  const Trigger trigger = {"(* (cast i64 i) 1000000000)", {{"i", Index, 0, 10}}, I64};
  const Right right = of_ints(I64, [](const auto& v) { return v[0] * 1'000'000'000; });
  EXPECT_TRUE(simplifies_right({}, trigger, right));
  const RuleSet mutant("cast", {by("index_type", {I64}, {Op::Mul}, multiply_as_i32,
                                   "a product with an index has the index type")});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, right));
}

// Folds a comparison as if no loop counted past the largest i32.
Ref fold_within_i32(Run& run, Ref u) {
  Graph& g = run.graph();
  const Int128 most = std::min(bounds(g, u->src[0]).hi, max_int(I32));
  return most < bounds(g, u->src[1]).lo ? g.constant(Bool, 1) : nullptr;
}

TEST(LayoutBugs, B095ALoopCountsPastTheLargestI32) {
  constexpr int64_t kLast = (int64_t{1} << 31) + 2;
  const Leaf loop = {
      "r0", Index, 0, kLast, values_of(Index, {0, kLast - 3, kLast - 2, kLast - 1, kLast}), true};
  const Trigger below = {"(< r0 2147483648)", {loop}};
  const Right right = of_ints(Bool, [](const auto& v) { return v[0] < 2147483648; });
  EXPECT_TRUE(simplifies_right({}, below, right));
  const Trigger gather = {"(// (+ r0 1) 2147483651)", {loop}};
  EXPECT_TRUE(
      simplifies_right({}, gather, of_ints(Index, [](const auto& v) { return v[0] == kLast; })));
  const RuleSet mutant("fold", {by("single_value", kScalars, {Op::Lt}, fold_within_i32,
                                   "a loop counts up to the largest i32")});
  EXPECT_FALSE(simplifies_right(with(mutant), below, right));
}

}  // namespace
}  // namespace assay::uop
