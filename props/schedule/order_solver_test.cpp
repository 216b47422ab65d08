#include "props/schedule/order_solver.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::props {
namespace {

// splitmix64
uint64_t next_random(uint64_t& state) {
  state += 0x9E37'79B9'7F4A'7C15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
  return z ^ (z >> 31);
}

CallPair random_pair(int32_t calls, uint64_t& state) {
  const auto from = static_cast<int32_t>(next_random(state) % static_cast<uint64_t>(calls - 1));
  const auto span = static_cast<uint64_t>(calls - from - 1);
  return {from, from + 1 + static_cast<int32_t>(next_random(state) % span)};
}

// Whether there is a path, call by call.
bool leads_to(const CallOrder& order, CallPair p) {
  std::vector<char> reached(static_cast<size_t>(order.calls()));
  reached[static_cast<size_t>(p.from)] = 1;
  for (const CallPair& e : order.edges()) {
    if (reached[static_cast<size_t>(e.from)] != 0) reached[static_cast<size_t>(e.to)] = 1;
  }
  return reached[static_cast<size_t>(p.to)] != 0;
}

TEST(OrderSolver, AgreesWithReachabilityOnRandomLists) {
  smt::ProverOptions options;
  options.asks_z3 = true;
  smt::Prover prover(options);
  size_t open_pairs = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    uint64_t state = seed;
    const auto calls = static_cast<int32_t>(2 + next_random(state) % 40);
    std::vector<CallEdge> edges;
    for (uint64_t i = next_random(state) % 80; i > 0; i--) {
      const CallPair p = random_pair(calls, state);
      edges.push_back({p.from, p.to, 0});
    }
    std::vector<CallPair> pairs;
    for (int i = 0; i < 90; i++) pairs.push_back(random_pair(calls, state));
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    const CallOrder order(calls, edges);
    std::vector<CallPair> open = order.unordered(pairs);
    std::sort(open.begin(), open.end());
    const SolvedOrder solved = solve_order(order, pairs, prover);
    EXPECT_EQ(solved.open, open) << seed;
    EXPECT_TRUE(solved.unknown.empty()) << solved.why;
    for (const CallPair& p : pairs) {
      EXPECT_EQ(leads_to(order, p), !std::binary_search(open.begin(), open.end(), p));
    }
    open_pairs += open.size();
  }
  EXPECT_GT(open_pairs, 100U);
  EXPECT_GT(prover.statistics().find("order")->second.by_method.count("z3"), 0U);
}

TEST(CallOrder, ASwappedOrderKeepsEveryEdge) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    uint64_t state = seed;
    std::vector<CallEdge> edges;
    for (int i = 0; i < 40; i++) {
      const CallPair p = random_pair(30, state);
      edges.push_back({p.from, p.to, 0});
    }
    const CallOrder order(30, edges);
    for (const CallPair& p : order.unordered({random_pair(30, state), random_pair(30, state)})) {
      const std::vector<int> swapped = order.swapped(p.from, p.to);
      std::vector<size_t> place(30);
      ASSERT_EQ(swapped.size(), 30U);
      for (size_t i = 0; i < 30; i++) place[static_cast<size_t>(swapped[i])] = i;
      EXPECT_LT(place[static_cast<size_t>(p.to)], place[static_cast<size_t>(p.from)]);
      for (const CallEdge& e : edges) {
        EXPECT_LT(place[static_cast<size_t>(e.from)], place[static_cast<size_t>(e.to)]);
      }
    }
  }
}

TEST(CallOrder, PathsTellEdgesFromWaysAround) {
  const std::vector<CallEdge> edges = {{0, 1, 0}, {1, 2, 0}, {0, 2, 1}, {2, 3, 0}};
  const CallOrder order(5, edges);
  const std::vector<CallPair> pairs = {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 3}};
  std::string found;
  for (const CallOrder::Path& p : order.paths(pairs)) {
    found += p.is_edge ? 'e' : '-';
    found += p.is_longer ? 'l' : '-';
    found += ' ';
  }
  EXPECT_EQ(found, "e- el -l -- e- ");
}

TEST(CallOrder, EdgesThatLeadNowhereOrBackAreRefused) {
  uop::Graph g;
  const auto read = [&](std::vector<int64_t> numbers) {
    const uop::Ref none = g.make(uop::Op::Sink, uop::Void, {}, g.info("", {}));
    const uop::Ref call = g.make(uop::Op::Call, uop::Void, {none}, g.info("", {}));
    const uop::Ref linear =
        g.make(uop::Op::Linear, uop::Void, {call, call, call}, g.info("", numbers));
    const auto edges = read_edges(linear);
    return edges.ok() ? std::string("ok") : edges.error().message;
  };
  EXPECT_EQ(read({0, 1, 0, 1, 2, 3}), "ok");
  EXPECT_EQ(read({0, 1}), "2 numbers are no edges");
  EXPECT_EQ(read({1, 1, 0}), "edge 1 1 0 of 3 calls");
  EXPECT_EQ(read({2, 1, 0}), "edge 2 1 0 of 3 calls");
  EXPECT_EQ(read({0, 3, 0}), "edge 0 3 0 of 3 calls");
  EXPECT_EQ(read({0, 1, 4}), "edge 0 1 4 of 3 calls");
}

}  // namespace
}  // namespace assay::props
