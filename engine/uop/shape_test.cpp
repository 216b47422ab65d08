#include "engine/uop/shape.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "engine/uop/eval.h"
#include "engine/uop/test_terms.h"

namespace assay::uop {
namespace {

using Sizes = std::vector<int64_t>;

Ref symbolic(Graph& g, std::vector<Ref> sizes, DType t = F32) {
  sizes.push_back(g.make(Op::Device, Void, {}, g.name("sim:0")));
  return g.make(Op::Buffer, t, sizes, Arg::place(0, AddrSpace::Global));
}

Ref buffer_of(Graph& g, const Sizes& sizes, DType t = F32) {
  std::vector<Ref> made;
  for (const int64_t size : sizes) made.push_back(dim(g, size));
  return symbolic(g, made, t);
}

Ref fold_of(Graph& g, Ref x, int32_t axes) {
  return g.make(Op::Reduce, x->dtype, {x}, Arg::fold(Op::Add, axes));
}

std::string largest(Graph& g, Shape sizes) {
  const std::optional<Shape> most = max_shape(g, sizes);
  return most ? shape_text(*most) : "unbounded";
}

TEST(Shape, IsThatOfAScalarForLeavesAndEffects) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const Ref x = buffer_of(g, Sizes{3});
  EXPECT_TRUE(shape(g, g.constant(F32, 1)).empty());
  EXPECT_TRUE(shape(g, n).empty());
  EXPECT_TRUE(shape(g, loop(g, 0, n)).empty());
  EXPECT_TRUE(shape(g, g.make(Op::Special, Index, {n}, g.name("gidx0"))).empty());
  EXPECT_TRUE(shape(g, g.make(Op::Invalid, F32, {})).empty());
  const Ref store = g.make(Op::Store, Void, {x, x});
  EXPECT_TRUE(shape(g, store).empty());
  EXPECT_TRUE(shape(g, g.make(Op::Sink, Void, {store, x})).empty());
  EXPECT_TRUE(shape(g, g.make(Op::End, Void, {store, loop(g, 0, n)})).empty());
}

TEST(Shape, OfStorageIsItsSizesWithoutTheDevice) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  EXPECT_EQ(text(g, symbolic(g, {n, dim(g, 4)})), "[n, 4]");
  EXPECT_EQ(text(g, g.make(Op::Param, F32, {n}, Arg::number(0))), "[n]");
  EXPECT_EQ(text(g, buffer_of(g, Sizes{})), "[]");
}

TEST(Shape, IsOneSpanWhereEqual) {
  Graph g;
  const Ref a = buffer_of(g, Sizes{3, 4});
  const Ref b = g.make(Op::Param, I32, dims(g, {3, 4}), Arg::number(1));
  const Ref c = permute(g, buffer_of(g, Sizes{4, 3}), Sizes{1, 0});
  EXPECT_EQ(shape(g, a).data(), shape(g, b).data());
  EXPECT_EQ(shape(g, a).data(), shape(g, c).data());
  EXPECT_NE(shape(g, a).data(), shape(g, c->src[0]).data());
}

struct BroadcastCase {
  Sizes a, b, both;
};
using Broadcast = std::optional<Sizes> (*)(const Sizes&, const Sizes&);

std::optional<Sizes> through_the_graph(const Sizes& a, const Sizes& b) {
  Graph g;
  const Ref sum = g.alu(Op::Add, {buffer_of(g, a), buffer_of(g, b)});
  if (shape_error(g, sum)) return std::nullopt;
  Sizes both;
  for (const Ref size : shape(g, sum)) both.push_back(static_cast<int64_t>(as_int(size->value())));
  return both;
}

// The mutant of bug B169: each axis is the larger one.
std::optional<Sizes> by_max(const Sizes& a, const Sizes& b) {
  Sizes both(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < a.size(); i++) both[both.size() - 1 - i] = a[a.size() - 1 - i];
  for (size_t i = 0; i < b.size(); i++) {
    int64_t& size = both[both.size() - 1 - i];
    size = std::max(size, b[b.size() - 1 - i]);
  }
  return both;
}

bool broadcasts(Broadcast rule, const std::vector<BroadcastCase>& cases) {
  return std::ranges::all_of(cases, [&](const BroadcastCase& c) {
    return rule(c.a, c.b) == c.both && rule(c.b, c.a) == c.both;
  });
}

const std::vector<BroadcastCase>& full_cases() {
  static const std::vector<BroadcastCase> cases = {
      {{}, {}, {}},          {{}, {3}, {3}},           {{1}, {3}, {3}},
      {{4}, {3, 4}, {3, 4}}, {{3, 1}, {1, 4}, {3, 4}}, {{2, 1, 4}, {3, 1}, {2, 3, 4}},
  };
  return cases;
}

TEST(Shape, BroadcastsFromTheRight) {
  EXPECT_TRUE(broadcasts(through_the_graph, full_cases()));
  EXPECT_FALSE(through_the_graph({3}, {4}).has_value());
  EXPECT_FALSE(through_the_graph({0}, {4}).has_value());
  EXPECT_FALSE(through_the_graph({3, 4}, {3}).has_value());
}

TEST(Shape, BroadcastsOneToZeroAsInB169) {
  const std::vector<BroadcastCase> cases = {
      {{1}, {0}, {0}}, {{3, 1}, {3, 0}, {3, 0}}, {{}, {0}, {0}}, {{1, 0}, {5, 1}, {5, 0}}};
  EXPECT_TRUE(broadcasts(through_the_graph, cases));
  EXPECT_TRUE(broadcasts(by_max, full_cases()));
  EXPECT_FALSE(broadcasts(by_max, cases));
}

// The same from scratch: index by index, an axis of size 1 stands still.
std::optional<Sizes> by_counting(const Sizes& a, const Sizes& b) {
  Sizes both;
  for (size_t i = 0; i < std::max(a.size(), b.size()); i++) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    both.insert(both.begin(), x == 1 ? y : x);
  }
  return both;
}

TEST(Shape, BroadcastsAnyShapesAsCountingDoes) {
  const auto sizes = [] {
    return *rc::gen::resize(4, rc::gen::container<Sizes>(rc::gen::inRange<int64_t>(0, 4)));
  };
  EXPECT_TRUE(rc::check("broadcast", [&] {
    const Sizes a = sizes();
    const Sizes b = sizes();
    RC_ASSERT(through_the_graph(a, b) == by_counting(a, b));
  }));
}

TEST(Shape, BroadcastsSymbolicSizes) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const Ref m = variable(g, "m", 2, 8);
  const auto sum = [&](const std::vector<Ref>& a, const std::vector<Ref>& b) {
    const Ref forth = g.alu(Op::Add, {symbolic(g, a), symbolic(g, b)});
    const Ref back = g.alu(Op::Add, {symbolic(g, b), symbolic(g, a)});
    if (const auto error = shape_error(g, forth)) return *error;
    EXPECT_EQ(shape(g, forth).data(), shape(g, back).data());
    return text(g, forth);
  };
  EXPECT_EQ(sum({n}, {dim(g, 1)}), "[n]");
  EXPECT_EQ(sum({dim(g, 3), n}, {n}), "[3, n]");
  EXPECT_EQ(sum({n}, {dim(g, 3)}), "[3]");  // n is 1 or 3, or nothing is meant
  EXPECT_EQ(sum({n}, {m}), "[m]");
  EXPECT_EQ(sum({m}, {dim(g, 1)}), "[m]");
  EXPECT_EQ(sum({m}, {dim(g, 9)}), "shapes [m] and [9] do not broadcast");
  EXPECT_EQ(sum({m}, {dim_add(g, m, dim(g, 1))}), "shapes [m] and [(+ m 1)] do not broadcast");
  const Ref k = variable(g, "k", 1, 4);
  EXPECT_EQ(sum({n}, {k}), "[(where (== k 1) n k)]");
}

TEST(Shape, BitcastScalesTheLastAxisByTheWidths) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const auto cast = [&](const Ref x, DType to) { return g.make(Op::Bitcast, to, {x}); };
  const Ref x = buffer_of(g, Sizes{2, 4});
  EXPECT_EQ(text(g, cast(x, U32)), "[2, 4]");
  EXPECT_EQ(text(g, cast(x, U8)), "[2, 16]");
  EXPECT_EQ(text(g, cast(cast(x, U8), F32)), "[2, 4]");
  EXPECT_EQ(text(g, cast(x, F64)), "[2, 2]");
  EXPECT_EQ(text(g, cast(cast(symbolic(g, {n}), U8), F32)), "[n]");
  EXPECT_EQ(text(g, g.make(Op::Cast, U8, {x})), "[2, 4]");
}

TEST(Shape, MovesAxes) {
  Graph g;
  const Ref x = buffer_of(g, Sizes{2, 3, 4});
  EXPECT_EQ(text(g, reshape(g, x, dims(g, {6, 4}))), "[6, 4]");
  EXPECT_EQ(text(g, reshape(g, buffer_of(g, Sizes{1}), {})), "[]");
  EXPECT_EQ(text(g, expand(g, buffer_of(g, Sizes{2, 1}), dims(g, {2, 5}))), "[2, 5]");
  EXPECT_EQ(text(g, permute(g, x, Sizes{2, 0, 1})), "[4, 2, 3]");
  EXPECT_EQ(text(g, flip(g, x, Sizes{1})), "[2, 3, 4]");
  EXPECT_EQ(text(g, pad(g, x, dims(g, {0, 1, 2, 0, 0, 0}))), "[3, 5, 4]");
  EXPECT_EQ(text(g, shrink(g, x, dims(g, {1, 1, 0, 2, 4, 0}))), "[1, 2, 0]");
  EXPECT_EQ(text(g, pad(g, buffer_of(g, Sizes{4, 0, 4}), dims(g, {0, 0, 0, 1, 0, 0}))),
            "[4, 1, 4]");
}

TEST(Shape, StacksBeforeTheShapeOfTheSources) {
  Graph g;
  const Ref x = buffer_of(g, Sizes{3, 4});
  EXPECT_EQ(text(g, g.make(Op::Stack, F32, {x, x})), "[2, 3, 4]");
  EXPECT_EQ(text(g, g.make(Op::Stack, F32, {})), "[0]");
  EXPECT_EQ(text(g, g.make(Op::Stack, F32, {g.make(Op::Invalid, F32, {}), x})), "[2, 3, 4]");
}

TEST(Shape, ReducesLeadingAxesAndNoneForRanges) {
  Graph g;
  const Ref x = buffer_of(g, Sizes{3, 4});
  EXPECT_EQ(text(g, fold_of(g, x, 0)), "[3, 4]");
  EXPECT_EQ(text(g, fold_of(g, x, 1)), "[4]");
  EXPECT_EQ(text(g, fold_of(g, x, 2)), "[]");
  const Ref r = loop(g, 0, dim(g, 8));
  EXPECT_EQ(text(g, g.make(Op::Reduce, F32, {x, r}, Arg::fold(Op::Add, 1))), "[4]");
}

TEST(Shape, IndexTakesALeadingAxisForEachIndex) {
  Graph g;
  const Ref x = buffer_of(g, Sizes{3, 4});
  const Ref r = loop(g, 0, dim(g, 3));
  const Ref four = g.make(Op::Stack, Index, {r, r, r, r});
  const auto at = [&](std::initializer_list<Ref> src) { return g.make(Op::Index, F32, src); };
  EXPECT_EQ(text(g, at({x})), "[3, 4]");
  EXPECT_EQ(text(g, at({x, r})), "[4]");
  EXPECT_EQ(text(g, at({x, r, r})), "[]");
  EXPECT_EQ(text(g, at({x, four})), "[4, 4]");
  EXPECT_EQ(text(g, at({x, four, r})), "[4]");
  EXPECT_EQ(text(g, g.make(Op::Load, F32, {at({x, four, r})})), "[4]");
}

TEST(Shape, IndexUndoesStage) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const Ref r = loop(g, 0, n);
  const Ref q = loop(g, 1, dim(g, 5));
  const Ref x = buffer_of(g, Sizes{3, 4});
  const Ref stage = g.make(Op::Stage, F32, {x, r, q}, Arg::place(0, AddrSpace::Local));
  EXPECT_EQ(text(g, stage), "[n, 5, 3, 4]");
  const Ref back = g.make(Op::Index, F32, {stage, r, q});
  EXPECT_EQ(shape(g, back).data(), shape(g, x).data());
}

TEST(Shape, StagesTermsWithRoomForAllTheirValues) {
  Graph g;
  const Ref q = loop(g, 1, dim(g, 5));
  const Ref term = dim_add(g, dim_mul(g, q, dim(g, 2)), dim(g, 1));
  const Ref stage = g.make(Op::Stage, F32, {g.constant(F32, 0), dim(g, 0), term},
                           Arg::place(0, AddrSpace::Local));
  EXPECT_EQ(text(g, stage), "[1, 10]");
}

TEST(Shape, OfWhatPassesAValueOnIsThatOfTheValue) {
  Graph g;
  const Ref x = buffer_of(g, Sizes{3, 4});
  const Ref y = buffer_of(g, Sizes{5});
  const Ref there = g.make(Op::Device, Void, {}, g.name("sim:1"));
  const Ref store = g.make(Op::Store, Void, {y, y});
  const std::vector<Ref> nodes = {
      g.make(Op::After, F32, {x, store}),
      g.make(Op::End, F32, {x, loop(g, 0, dim(g, 2))}),
      g.make(Op::Contiguous, F32, {x}),
      g.make(Op::Copy, F32, {x, there}),
      g.make(Op::AllReduce, F32, {x, there}, Arg::fold(Op::Add, 0)),
      g.make(Op::MStack, F32, {x, x}),
      g.make(Op::Multi, F32, {x}, Arg::number(0)),
      g.make(Op::MSelect, F32, {x}, Arg::number(1)),
      g.make(Op::Wmma, F32, {y, y, x}),
      g.make(Op::Call, F32, {x, y}, g.info("f", {})),
  };
  for (const Ref u : nodes) EXPECT_EQ(shape(g, u).data(), shape(g, x).data()) << to_text(u->op);
}

// Bug B069: a size that depends on a variable still does behind a call.
TEST(Shape, StaysSymbolicBehindACall) {
  Graph g;
  const Ref n = variable(g, "n", 1, 8);
  const Ref x = g.make(Op::Param, F32, {n}, Arg::number(0));
  const Ref body = g.alu(Op::Add, {x, g.constant(F32, 1)});
  const Ref call = g.make(Op::Call, F32, {body, symbolic(g, {n})}, g.info("f", {}));
  EXPECT_EQ(text(g, call), "[n]");
  EXPECT_EQ(largest(g, shape(g, call)), "[8]");
}

TEST(Shape, CountsElements) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(size_of(g, dims(g, {3, 4})), dim(g, 12));
  EXPECT_EQ(size_of(g, {}), dim(g, 1));
  EXPECT_EQ(size_of(g, dims(g, {big, big, 0})), dim(g, 0));
  EXPECT_EQ(shape_text({{size_of(g, std::vector{dim(g, 3), n, dim(g, 2)})}}), "[(* n 6)]");
  EXPECT_EQ(constant_size(dims(g, {3, 4})), 12);
  EXPECT_EQ(constant_size({}), 1);
  EXPECT_EQ(constant_size(dims(g, {big, big, 0})), 0);
  EXPECT_EQ(constant_size(dims(g, {big, big})), std::nullopt);
  EXPECT_EQ(constant_size(dims(g, {big, big, big, big})), std::nullopt);
  EXPECT_EQ(constant_size(std::vector{n}), std::nullopt);
}

TEST(Shape, TakesTheLargestValueOfASymbolicSizeForMemory) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const std::vector<Ref> sizes = {dim_add(g, dim_mul(g, n, dim(g, 2)), dim(g, 1)), dim(g, 3)};
  EXPECT_EQ(largest(g, sizes), "[33, 3]");
  EXPECT_EQ(largest(g, std::vector{g.variable("free", Index)}), "unbounded");
}

// The sizes of symbolic movements are those of the same movements at each value of n.
TEST(Shape, AgreesWithEachValueOfAVariable) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const Ref three = dim(g, 3);
  const Ref x = symbolic(g, {n, three});
  const Ref padded = pad(g, x, std::vector{dim(g, 2), n, dim(g, 0), dim(g, 1)});
  const Ref shrunk =
      shrink(g, padded, std::vector{dim(g, 1), dim_add(g, n, dim(g, 1)), dim(g, 0), three});
  const Ref flat = reshape(g, shrunk, std::vector{size_of(g, shape(g, shrunk))});
  for (const Ref u : {padded, shrunk, flat}) EXPECT_EQ(shape_error(g, u), std::nullopt);
  const auto at = [&](Ref u, size_t axis, int64_t value) {
    Evaluator evaluator(g, shape(g, u)[axis]);
    return as_int(evaluator.run(std::vector{of_int(Index, value)}).value);
  };
  for (int64_t value = 1; value <= 16; value++) {
    EXPECT_EQ(at(padded, 0, value), 2 * value + 2);
    EXPECT_EQ(at(shrunk, 0, value), value + 1);
    EXPECT_EQ(at(flat, 0, value), 3 * (value + 1));
  }
  EXPECT_EQ(shape(g, padded)[1], dim(g, 4));
}

TEST(Shape, ReadsTheSameWhateverNodesWereMadeBefore) {
  const auto made = [](bool junk) {
    Graph g;
    if (junk) {
      const Ref k = variable(g, "k", 1, 9);
      const Ref n = variable(g, "n", 1, 16);
      shape(g, symbolic(g, {g.alu(Op::Mul, {k, n})}));
    }
    const Ref n = variable(g, "n", 1, 16);
    const Ref k = variable(g, "k", 1, 9);
    const Ref sum = g.alu(Op::Add, {symbolic(g, {n}), symbolic(g, {k})});
    const Ref product = dim_mul(g, n, k);
    return text(g, sum) + shape_text({&product, 1});
  };
  EXPECT_EQ(made(false), made(true));
}

TEST(Shape, PrintsLongSizesCutShort) {
  Graph g;
  Ref sum = variable(g, "n", 1, 2);
  for (int i = 0; i < 60; i++) sum = dim_add(g, sum, sum);
  EXPECT_LT(shape_text({&sum, 1}).size(), 200U);
  EXPECT_NE(shape_text({&sum, 1}).find("…"), std::string::npos);
}

}  // namespace
}  // namespace assay::uop
