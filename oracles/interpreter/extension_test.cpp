#include "oracles/interpreter/extension.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "oracles/interpreter/test_program.h"

namespace assay::interpreter {
namespace {

using uop::Op;

// A LINEAR of n calls with edges from lower places to higher ones.
uop::Ref linear(uop::Graph& g, int n, const std::vector<int64_t>& edges) {
  std::vector<uop::Ref> calls;
  for (int i = 0; i < n; i++) {
    const int64_t number[] = {i};
    const uop::Ref sink = g.make(Op::Sink, uop::Void, {}, g.info("k", number));
    calls.push_back(g.make(Op::Call, uop::Void, {sink}));
  }
  return g.make(Op::Linear, uop::Void, calls, g.info("", edges));
}

TEST(Extension, KeepsEveryEdgeAndNamesEveryCall) {
  rc::check([] {
    uop::Graph g;
    const int n = *rc::gen::inRange(1, 30);
    std::vector<int64_t> edges;
    const int count = *rc::gen::inRange(0, 3 * n);
    for (int i = 0; i < count && n > 1; i++) {
      const int to = *rc::gen::inRange(1, n);
      edges.insert(edges.end(), {*rc::gen::inRange(0, to), to, i % 4});
    }
    const uop::Ref l = linear(g, n, edges);
    RC_ASSERT(is_extension(l, random_extension(l, *rc::gen::arbitrary<uint64_t>())));
    RC_ASSERT(is_extension(l, last_first_extension(l)));
  });
}

TEST(Extension, TakesTheCallsFromTheEndWhereNothingForbidsIt) {
  uop::Graph g;
  EXPECT_EQ(last_first_extension(linear(g, 4, {})), (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(last_first_extension(linear(g, 4, {0, 3, 0, 1, 2, 1})), (std::vector<int>{1, 2, 0, 3}));
}

TEST(Extension, EveryOrderIsDrawnSometime) {
  uop::Graph g;
  const uop::Ref l = linear(g, 4, {0, 1, 0});
  std::set<std::vector<int>> seen;
  for (uint64_t seed = 0; seed < 500; seed++) seen.insert(random_extension(l, seed));
  EXPECT_EQ(seen.size(), 12U);
}

TEST(Extension, AnOrderThatBreaksAnEdgeIsNone) {
  uop::Graph g;
  const uop::Ref l = linear(g, 3, {0, 2, 1});
  EXPECT_TRUE(is_extension(l, {0, 1, 2}));
  EXPECT_TRUE(is_extension(l, {1, 0, 2}));
  EXPECT_FALSE(is_extension(l, {2, 1, 0}));
  EXPECT_FALSE(is_extension(l, {0, 0, 2}));
  EXPECT_FALSE(is_extension(l, {0, 2}));
}

}  // namespace
}  // namespace assay::interpreter
