#include "engine/uop/walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/uop/key.h"

namespace assay::uop {
namespace {

constexpr int kChain = 1'000'000;
constexpr int kFan = 100'000;

// leaf + 1 + 1 + …: `count` adds.
Ref chain(Graph& g, Ref leaf, int count) {
  const Ref one = g.constant(leaf->dtype, 1);
  Ref u = leaf;
  for (int i = 0; i < count; i++) u = g.make(Op::Add, leaf->dtype, {u, one});
  return u;
}

// A sink of leaf, 1, 2, …: `count` sources.
Ref fan(Graph& g, Ref leaf, int count) {
  std::vector<Ref> sources = {leaf};
  for (int i = 1; i < count; i++) sources.push_back(g.constant(leaf->dtype, i));
  return g.make(Op::Sink, Void, sources);
}

Ref buffer(Graph& g, int32_t number) {
  return g.make(Op::Buffer, F32, {g.constant(Index, 100)}, Arg::place(number, AddrSpace::Global));
}
Ref loop(Graph& g, int32_t number) {
  return g.make(Op::Range, Index, {g.constant(Index, 10)}, Arg::axis(number, AxisType::Loop));
}
Ref param(Graph& g, int64_t number) {
  return g.make(Op::Param, F32, {g.constant(Index, 100)}, Arg::number(number));
}
Ref sink(Graph& g, std::vector<Ref> sources) { return g.make(Op::Sink, Void, sources); }

// A call of the body x * 2 on y: body, then argument.
struct CallParts {
  Ref x, body, y, call;
};
CallParts call(Graph& g) {
  const Ref x = g.variable("x", I32);
  const Ref body = g.make(Op::Mul, I32, {x, g.constant(I32, 2)});
  const Ref y = g.variable("y", I32);
  return {x, body, y, g.make(Op::Call, I32, {body, y})};
}

TEST(Toposort, PutsSourcesBeforeUsersInTheOrderOfSources) {
  Graph g;
  // Made in an order that the walk must not follow.
  const Ref c = g.variable("c", I32);
  const Ref b = g.variable("b", I32);
  const Ref a = g.variable("a", I32);
  const Ref bc = g.alu(Op::Mul, {b, c});
  const Ref ab = g.alu(Op::Add, {a, b});
  const Ref root = g.alu(Op::Max, {ab, bc});
  EXPECT_EQ(toposort(g, root), (std::vector<Ref>{a, b, ab, c, bc, root}));
}

TEST(Toposort, VisitsSharedNodesOnce) {
  Graph g;
  Ref u = g.variable("x", I32);
  for (int i = 0; i < 60; i++) u = g.alu(Op::Add, {u, u});
  EXPECT_EQ(toposort(g, u).size(), 61U);
}

TEST(Toposort, LeavesOutWhatTheRootDoesNotReach) {
  Graph g;
  const Ref x = g.variable("x", I32);
  g.alu(Op::Neg, {x});
  EXPECT_EQ(toposort(g, x), std::vector<Ref>{x});
}

TEST(Toposort, EntersBodiesOnlyWhenAsked) {
  Graph g;
  const CallParts parts = call(g);
  EXPECT_EQ(toposort(g, parts.call, Extent::OutsideBodies),
            (std::vector<Ref>{parts.y, parts.call}));
  const Ref two = g.constant(I32, 2);
  EXPECT_EQ(toposort(g, parts.call, Extent::Everything),
            (std::vector<Ref>{parts.x, two, parts.body, parts.y, parts.call}));
}

TEST(Toposort, WalksAMillionDeep) {
  Graph g;
  const Ref x = g.variable("x", I64);
  const Ref root = chain(g, x, kChain);
  const std::vector<Ref> order = toposort(g, root);
  ASSERT_EQ(order.size(), kChain + 2U);
  EXPECT_EQ(order.front(), x);
  EXPECT_EQ(order.back(), root);
}

TEST(Toposort, WalksAHundredThousandSources) {
  Graph g;
  const Ref root = fan(g, g.variable("x", I64), kFan);
  const std::vector<Ref> order = toposort(g, root);
  ASSERT_EQ(order.size(), kFan + 1U);
  EXPECT_TRUE(std::equal(root->src.begin(), root->src.end(), order.begin()));
}

TEST(Substitute, ReplacesEachKeyByItsValue) {
  Graph g;
  const Ref x = g.variable("x", I32);
  const Ref y = g.variable("y", I32);
  const Ref root = g.alu(Op::Add, {g.alu(Op::Mul, {x, y}), x});
  const Ref two = g.constant(I32, 2);
  EXPECT_EQ(substitute(g, root, {{x, two}}), g.alu(Op::Add, {g.alu(Op::Mul, {two, y}), two}));
}

TEST(Substitute, DoesNotSearchValuesAgain) {
  Graph g;
  const Ref x = g.variable("x", I32);
  const Ref y = g.variable("y", I32);
  const Ref swapped = substitute(g, g.alu(Op::Sub, {x, y}), {{x, y}, {y, x}});
  EXPECT_EQ(swapped, g.alu(Op::Sub, {y, x}));
  const Ref grown = g.alu(Op::Neg, {x});
  EXPECT_EQ(substitute(g, grown, {{x, grown}}), g.alu(Op::Neg, {grown}));
}

TEST(Substitute, MayReplaceTheRoot) {
  Graph g;
  const Ref x = g.variable("x", I32);
  const Ref two = g.constant(I32, 2);
  EXPECT_EQ(substitute(g, x, {{x, two}}), two);
}

TEST(Substitute, MakesNothingWhereNothingIsReplaced) {
  Graph g;
  const Ref root = chain(g, g.variable("x", I32), 10);
  const Ref other = g.variable("y", I32);
  const size_t before = g.size();
  EXPECT_EQ(substitute(g, root, {{other, root}}), root);
  EXPECT_EQ(g.size(), before);
}

TEST(Substitute, EntersBodiesOnlyWhenAsked) {
  Graph g;
  const CallParts parts = call(g);
  const Ref z = g.variable("z", I32);
  const Substitution map = {{parts.x, z}, {parts.y, z}};
  const Ref body = g.make(Op::Mul, I32, {z, g.constant(I32, 2)});
  EXPECT_EQ(substitute(g, parts.call, map, Extent::OutsideBodies),
            g.make(Op::Call, I32, {parts.body, z}));
  EXPECT_EQ(substitute(g, parts.call, map, Extent::Everything), g.make(Op::Call, I32, {body, z}));
}

TEST(Substitute, ReachesTheEndOfAMillionNodes) {
  Graph g;
  const Ref x = g.variable("x", I64);
  const Ref y = g.variable("y", I64);
  EXPECT_EQ(substitute(g, chain(g, x, kChain), {{x, y}}), chain(g, y, kChain));
}

TEST(Substitute, ReplacesAmongAHundredThousandSources) {
  Graph g;
  const Ref x = g.variable("x", I64);
  const Ref y = g.variable("y", I64);
  EXPECT_EQ(substitute(g, fan(g, x, kFan), {{x, y}}), fan(g, y, kFan));
}

TEST(CopyTo, CarriesEveryArgument) {
  const int64_t numbers[] = {3, -1};
  const auto build = [&](Graph& g) {
    const Ref x = g.variable("x", of_int(Index, 0), of_int(Index, 9));
    const Ref loop = g.make(Op::Range, Index, {x}, Arg::axis(4, AxisType::Upcast));
    const Ref buffer = g.make(Op::Buffer, F32, {loop}, Arg::place(2, AddrSpace::Local));
    const Ref moved = g.make(Op::Permute, F32, {buffer}, g.numbers(numbers));
    const Ref folded = g.make(Op::Reduce, F32, {moved}, Arg::fold(Op::Max, 1));
    const Ref device = g.make(Op::Device, Void, {}, g.name("sim"));
    const Ref constant = g.constant(of_double(F64, -0.0));
    const Ref picked = g.make(Op::MSelect, F32, {folded}, Arg::number(7));
    return g.make(Op::Sink, Void, {picked, device, constant}, g.info("kernel", numbers));
  };
  Graph from;
  const Ref root = build(from);
  Graph to;
  to.variable("junk", I32);
  const Ref copy = copy_to(to, from, root);
  EXPECT_EQ(copy, build(to));
  EXPECT_EQ(to.size(), from.size() + 1);
}

TEST(CopyTo, CarriesAMillionNodes) {
  Graph from;
  const Ref root = chain(from, from.variable("x", I64), kChain);
  Graph to;
  const Ref copy = copy_to(to, from, root);
  EXPECT_EQ(to.size(), kChain + 2U);
  EXPECT_EQ(copy, chain(to, to.variable("x", I64), kChain));
}

TEST(CopyTo, CarriesAHundredThousandSources) {
  Graph from;
  const Ref root = fan(from, from.variable("x", I64), kFan);
  Graph to;
  const Ref copy = copy_to(to, from, root);
  EXPECT_EQ(copy, fan(to, to.variable("x", I64), kFan));
}

TEST(Renumber, NumbersByFirstOccurrence) {
  Graph g;
  const Ref root = sink(g, {buffer(g, 7), buffer(g, 3), buffer(g, 7), buffer(g, 5)});
  EXPECT_EQ(renumber(g, root), sink(g, {buffer(g, 0), buffer(g, 1), buffer(g, 0), buffer(g, 2)}));
}

// Two requests that swap their numbers: each must be read before it is overwritten.
TEST(Renumber, SwapsTwoNumbers) {
  Graph g;
  EXPECT_EQ(renumber(g, sink(g, {loop(g, 1), loop(g, 0)})), sink(g, {loop(g, 0), loop(g, 1)}));
}

TEST(Renumber, CountsBuffersRangesAndParamsEachByThemselves) {
  Graph g;
  const Ref root = sink(g, {buffer(g, 9), loop(g, 9), param(g, 9), param(g, 8), loop(g, 7)});
  EXPECT_EQ(renumber(g, root),
            sink(g, {buffer(g, 0), loop(g, 0), param(g, 0), param(g, 1), loop(g, 1)}));
}

TEST(Renumber, KeepsWhatStandsBesideTheNumber) {
  Graph g;
  const Ref size = g.constant(Index, 4);
  const Ref local = g.make(Op::Buffer, F32, {size}, Arg::place(5, AddrSpace::Local));
  const Ref reduce = g.make(Op::Range, Index, {size}, Arg::axis(6, AxisType::Reduce));
  EXPECT_EQ(renumber(g, sink(g, {local, reduce})),
            sink(g, {g.make(Op::Buffer, F32, {size}, Arg::place(0, AddrSpace::Local)),
                     g.make(Op::Range, Index, {size}, Arg::axis(0, AxisType::Reduce))}));
}

// B045: a fresh number for a temporary at each trace must not make a new program of the same one.
TEST(Renumber, MakesOneProgramOfTracesThatDifferInFreshNumbers) {
  const auto trace = [](Graph& g, int32_t fresh) {
    const Ref sum = g.alu(Op::Add, {buffer(g, fresh), buffer(g, fresh + 1)});
    return renumber(g, sink(g, {sum, buffer(g, fresh)}));
  };
  Graph g;
  const Ref first = trace(g, 0);
  EXPECT_EQ(trace(g, 17), first);
  EXPECT_EQ(trace(g, 1000), first);
}

// B045, the opposite error: two temporaries that become one give wrong results.
TEST(Renumber, KeepsTwoBuffersTwo) {
  Graph g;
  const Ref two = renumber(g, g.alu(Op::Add, {buffer(g, 4), buffer(g, 6)}));
  const Ref one = renumber(g, g.alu(Op::Add, {buffer(g, 4), buffer(g, 4)}));
  EXPECT_NE(two->src[0], two->src[1]);
  EXPECT_EQ(one->src[0], one->src[1]);
  EXPECT_NE(two, one);
}

// B043: buffers that hold equal values are storage of their own.
TEST(Renumber, LeavesEqualBuffersOfTwoNumbersApart) {
  Graph g;
  const Ref a = buffer(g, 0);
  const Ref b = buffer(g, 1);
  EXPECT_NE(a, b);
  EXPECT_NE(key(g, a), key(g, b));
  EXPECT_EQ(renumber(g, sink(g, {a, b})), sink(g, {a, b}));
}

TEST(Renumber, WalksAMillionDeep) {
  Graph g;
  EXPECT_EQ(renumber(g, chain(g, loop(g, 3), kChain)), chain(g, loop(g, 0), kChain));
}

}  // namespace
}  // namespace assay::uop
