// Shapes of graphs that are deep, wide, or shared: each node is asked once, and no stack is used
// up.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/uop/shape.h"
#include "engine/uop/test_terms.h"

namespace assay::uop {
namespace {

Ref tensor(Graph& g, std::initializer_list<int64_t> sizes) {
  return g.make(Op::Param, F32, dims(g, sizes), Arg::number(0));
}

// A rule over sources that counts how often it is asked.
struct Counted {
  Graph& g;
  size_t asked = 0;
  size_t once_per_node(Ref u) {
    NodeMap<int> map;
    derive(map, u, [&](Ref) { return static_cast<int>(++asked); });
    return asked;
  }
  size_t once_per_path(Ref u) {
    asked++;
    for (const Ref s : u->src) once_per_path(s);
    return asked;
  }
};

// Bug B185: x = stack(x, x)[0] again and again has as many nodes as steps, and 2^n paths.
Ref nested_stacks(Graph& g, int steps) {
  Ref x = g.constant(F32, 1);
  const Ref zero = dim(g, 0);
  for (int i = 0; i < steps; i++) {
    const Ref both = g.make(Op::Stack, F32, {x, x});
    x = g.make(Op::Index, F32, {both, zero});
  }
  return x;
}

TEST(Shape, AsksOncePerNodeAsInB185) {
  Graph g;
  const Ref x = nested_stacks(g, 12);
  EXPECT_LE(Counted{g}.once_per_node(x), g.size());
  EXPECT_GT(Counted{g}.once_per_path(x), g.size());
  EXPECT_TRUE(shape(g, nested_stacks(g, 60)).empty());
  Ref sum = tensor(g, {3});
  for (int i = 0; i < 60; i++) sum = g.alu(Op::Add, {sum, sum});
  EXPECT_EQ(text(g, sum), "[3]");
}

// Bug B186: the depth of a graph costs no stack.
TEST(Shape, GoesThroughAMillionNodes) {
  Graph g;
  const Ref a = tensor(g, {3, 1});
  const Ref b = tensor(g, {1, 4});
  Ref x = a;
  for (int i = 0; i < 1'000'000; i++) x = g.make(Op::Add, F32, {x, i % 2 == 0 ? b : a});
  EXPECT_EQ(text(g, x), "[3, 4]");
  EXPECT_EQ(shape(g, x).data(), shape(g, x->src[0]).data());
}

TEST(Shape, GoesThroughAMillionSymbolicSizes) {
  Graph g;
  Ref size = g.variable("n", of_int(Index, 1), of_int(Index, 16));
  for (int i = 0; i < 1'000'000; i++) size = g.make(Op::Max, Index, {size, dim(g, i % 7)});
  EXPECT_EQ(shape_text(max_shape(g, std::vector{size}).value_or(Shape{})), "[16]");
}

TEST(Shape, StacksAHundredThousandSources) {
  Graph g;
  std::vector<Ref> sources;
  sources.reserve(100'000);
  for (int i = 0; i < 100'000; i++) {
    sources.push_back(g.make(Op::Param, F32, dims(g, {28, 28}), Arg::number(i)));
  }
  EXPECT_EQ(text(g, g.make(Op::Stack, F32, sources)), "[100000, 28, 28]");
}

}  // namespace
}  // namespace assay::uop
