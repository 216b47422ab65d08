#include "engine/uop/uop.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "engine/uop/facts.h"

namespace assay::uop {
namespace {

// A sum of sums in which no two nodes have the same sources.
Ref fibonacci(Graph& g, size_t count) {
  Ref u = g.constant(Index, 1);
  Ref v = g.constant(Index, 2);
  for (size_t i = 0; i < count; i++) {
    const Ref next = g.make(Op::Add, Index, {u, v});
    u = v;
    v = next;
  }
  return v;
}

TEST(Graph, MakesOneNodeOfEqualParts) {
  Graph g;
  const Ref x = g.variable("x", I32);
  const Ref one = g.constant(I32, 1);
  const Ref sum = g.make(Op::Add, I32, {x, one});
  EXPECT_EQ(g.size(), 3U);
  EXPECT_EQ(g.variable("x", I32), x);
  EXPECT_EQ(g.constant(I32, 1), one);
  EXPECT_EQ(g.make(Op::Add, I32, {x, one}), sum);
  EXPECT_EQ(g.with_sources(sum, sum->src), sum);
  EXPECT_EQ(g.size(), 3U);
}

TEST(Graph, TellsNodesApartByEachPart) {
  Graph g;
  const Ref x = g.variable("x", I32);
  const Ref y = g.variable("y", I32);
  const int64_t axes[] = {0, 1};
  const int64_t swapped[] = {1, 0};
  const std::set<Ref> nodes = {
      g.make(Op::Add, I32, {x, y}),
      g.make(Op::Add, I32, {y, x}),
      g.make(Op::Mul, I32, {x, y}),
      g.make(Op::Add, I64, {x, y}),
      g.make(Op::Sink, Void, {x}),
      g.make(Op::Sink, Void, {x, y}),
      g.make(Op::Sink, Void, {x, y}, g.info("a", axes)),
      g.make(Op::Sink, Void, {x, y}, g.info("b", axes)),
      g.make(Op::Sink, Void, {x, y}, g.info("a", swapped)),
      g.make(Op::Sink, Void, {x, y}, g.symbol("a", axes)),
      g.make(Op::Range, I32, {x}, Arg::axis(0, AxisType::Loop)),
      g.make(Op::Range, I32, {x}, Arg::axis(1, AxisType::Loop)),
      g.make(Op::Range, I32, {x}, Arg::axis(0, AxisType::Reduce)),
      g.make(Op::Range, I32, {x}, Arg::number(0)),
  };
  EXPECT_EQ(nodes.size(), 14U);
}

TEST(Graph, TellsMinusZeroFromZero) {
  Graph g;
  const Ref zero = g.constant(of_double(F32, 0.0));
  const Ref minus_zero = g.constant(of_double(F32, -0.0));
  EXPECT_NE(zero, minus_zero);
  EXPECT_EQ(zero->value().bits, 0U);
  EXPECT_EQ(minus_zero->value().bits, 0x80000000U);
}

TEST(Graph, TellsOneIntegerAtTwoTypesApart) {
  Graph g;
  EXPECT_NE(g.constant(I8, 1), g.constant(U8, 1));
}

TEST(Graph, GivesDenseIdsInOrderOfCreation) {
  Graph g;
  fibonacci(g, 10'000);
  ASSERT_EQ(g.size(), 10'002U);
  for (uint32_t id = 0; id < g.size(); id++) ASSERT_EQ(g.at(id)->id, id);
}

TEST(Graph, FindsEveryNodeAgainAfterItGrew) {
  Graph g;
  fibonacci(g, 10'000);
  for (uint32_t id = 0; id < 10'002; id++) {
    const Ref u = g.at(id);
    const std::vector<Ref> sources(u->src.begin(), u->src.end());
    ASSERT_EQ(g.make(u->op, u->dtype, sources, u->arg), u);
  }
  EXPECT_EQ(g.size(), 10'002U);
}

TEST(Graph, HoldsABinaryNodeInAtMost120Bytes) {
  Graph g;
  // Every size of the table and of the arena's chunks is passed on the way.
  Ref u = fibonacci(g, 5'000);
  for (int i = 0; i < 300'000; i++) {
    u = g.make(Op::Mul, Index, {u, g.at(0)});
    ASSERT_LE(g.bytes(), 120 * g.size()) << g.size() << " nodes";
  }
  // Less than the parts themselves would be a miscount.
  EXPECT_GE(g.bytes(), g.size() * (sizeof(UOp) + 2 * sizeof(Ref)));
}

TEST(Graph, KeepsItsOwnCopyOfNamesAndNumbers) {
  Graph g;
  std::string name = "tile";
  std::vector<int64_t> numbers = {1, 2, 3};
  const Ref sink = g.make(Op::Sink, Void, {}, g.info(name, numbers));
  name[0] = 'x';
  numbers[0] = 9;
  EXPECT_EQ(sink->arg.name(), "tile");
  EXPECT_EQ(std::vector<int64_t>(sink->arg.numbers().begin(), sink->arg.numbers().end()),
            (std::vector<int64_t>{1, 2, 3}));
}

TEST(Graph, KeepsItsOwnCopyOfSources) {
  Graph g;
  std::vector<Ref> sources = {g.constant(I32, 1), g.constant(I32, 2)};
  const Ref sink = g.make(Op::Sink, Void, sources);
  sources[0] = sources[1];
  EXPECT_EQ(sink->src[0], g.constant(I32, 1));
}

TEST(Graph, TakesTheTypeOfAFunctionFromItsSources) {
  Graph g;
  const Ref x = g.variable("x", F16);
  const Ref y = g.variable("y", F16);
  const Ref less = g.alu(Op::Lt, {x, y});
  EXPECT_EQ(less->dtype, Bool);
  EXPECT_EQ(g.alu(Op::Mul, {x, y})->dtype, F16);
  EXPECT_EQ(g.alu(Op::Where, {less, x, y})->dtype, F16);
}

TEST(Graph, HoldsTheBoundsOfAVariable) {
  Graph g;
  const Ref x = g.variable("x", of_int(I8, -128), of_int(I8, 127));
  ASSERT_EQ(x->arg.numbers().size(), 2U);
  EXPECT_EQ(x->arg.numbers()[0], -128);
  EXPECT_EQ(x->arg.numbers()[1], 127);
  EXPECT_NE(x, g.variable("x", I8));
  EXPECT_NE(x, g.variable("x", of_int(I8, -128), of_int(I8, 126)));
}

TEST(Arg, HoldsWhatItWasMadeOf) {
  EXPECT_EQ(Arg::number(-5).number(), -5);
  const Arg axis = Arg::axis(-7, AxisType::Unroll);
  EXPECT_EQ(axis.number(), -7);
  EXPECT_EQ(axis.axis_type(), AxisType::Unroll);
  const Arg place = Arg::place(3, AddrSpace::Reg);
  EXPECT_EQ(place.number(), 3);
  EXPECT_EQ(place.addr_space(), AddrSpace::Reg);
  const Arg fold = Arg::fold(Op::Max, 2);
  EXPECT_EQ(fold.number(), 2);
  EXPECT_EQ(fold.fold_op(), Op::Max);
}

TEST(NodeMap, ForgetsAllWhenCleared) {
  Graph g;
  const Ref x = g.constant(I32, 1);
  const Ref y = g.constant(I32, 2);
  NodeMap<int> map;
  map.set(x, 10);
  EXPECT_EQ(map.at(x), 10);
  EXPECT_FALSE(map.has(y));
  map.clear();
  EXPECT_FALSE(map.has(x));
  EXPECT_EQ(map.find(x), nullptr);
  map.set(y, 20);
  EXPECT_FALSE(map.has(x));
  EXPECT_EQ(*map.find(y), 20);
}

TEST(Arena, AlignsAndKeepsApartWhatItHandsOut) {
  Arena arena;
  std::vector<unsigned char*> blocks;
  const size_t sizes[] = {1, 7, 8, 9, 4096, 5000, 1, 3'000'000, 24};
  for (const size_t size : sizes) {
    auto* p = static_cast<unsigned char*>(arena.allocate(size));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 8, 0U);
    std::fill_n(p, size, static_cast<unsigned char>(blocks.size()));
    blocks.push_back(p);
  }
  for (size_t i = 0; i < blocks.size(); i++) {
    EXPECT_EQ(blocks[i][0], i);
    EXPECT_EQ(blocks[i][sizes[i] - 1], i);
  }
}

}  // namespace
}  // namespace assay::uop
