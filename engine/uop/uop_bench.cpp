#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "engine/uop/key.h"
#include "engine/uop/uop.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

// The parts of a node, held apart from the graph so that asking for it touches no other node.
struct Parts {
  Op op;
  Ref src[2];
};

// Numbers that a benchmark draws: the same in every run.
class Draws {
 public:
  uint64_t below(uint64_t end) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) % end;
  }

 private:
  uint64_t state_ = 1;
};

// `count` parts of nodes that differ, on sources drawn from all nodes made before; each is in g.
std::vector<Parts> fill(Graph& g, size_t count) {
  constexpr Op kOps[] = {Op::Add, Op::Mul, Op::Max, Op::Div};
  Draws draws;
  for (int i = 0; i < 16; i++) g.constant(Index, i);
  std::vector<Parts> parts;
  parts.reserve(count);
  while (parts.size() < count) {
    const auto a = static_cast<uint32_t>(draws.below(g.size()));
    const auto b = static_cast<uint32_t>(draws.below(g.size()));
    const Parts p = {kOps[draws.below(4)], {g.at(a), g.at(b)}};
    const size_t before = g.size();
    g.make(p.op, Index, p.src);
    if (g.size() != before) parts.push_back(p);
  }
  return parts;
}

void shuffle(std::vector<Parts>& parts) {
  Draws draws;
  for (size_t i = parts.size(); i > 1; i--) std::swap(parts[i - 1], parts[draws.below(i)]);
}

Ref make(Graph& g, const Parts& p) { return g.make(p.op, Index, p.src); }

// The root of a graph of about `count` nodes: a sum over nodes with shared sources.
Ref shared_terms(Graph& g, size_t count) {
  Ref u = g.variable("a", Index);
  Ref v = g.variable("b", Index);
  while (g.size() < count) {
    const Ref sum = g.make(Op::Add, Index, {u, v});
    u = g.make(Op::Mul, Index, {sum, u});
    v = sum;
  }
  return u;
}

void look_up(benchmark::State& state) {
  Graph g;
  std::vector<Parts> parts = fill(g, static_cast<size_t>(state.range(0)));
  shuffle(parts);
  while (state.KeepRunning()) {
    for (const Parts& p : parts) benchmark::DoNotOptimize(make(g, p));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["bytes_per_node"] = static_cast<double>(g.bytes()) / static_cast<double>(g.size());
}
BENCHMARK(look_up)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// New nodes over sources that are there, table and arena growing from empty.
void make_new(benchmark::State& state) {
  const int64_t count = state.range(0);
  double bytes = 0;
  while (state.KeepRunning()) {
    Graph g;
    Ref u = g.constant(Index, 1);
    Ref v = g.constant(Index, 2);
    for (int64_t i = 0; i < count; i++) {
      const Ref next = g.make(Op::Add, Index, {u, v});
      u = v;
      v = next;
    }
    bytes = static_cast<double>(g.bytes()) / static_cast<double>(g.size());
  }
  state.SetItemsProcessed(state.iterations() * count);
  state.counters["bytes_per_node"] = bytes;
}
BENCHMARK(make_new)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void walk(benchmark::State& state) {
  Graph g;
  const Ref root = shared_terms(g, static_cast<size_t>(state.range(0)));
  while (state.KeepRunning()) benchmark::DoNotOptimize(toposort(g, root).data());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(walk)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void derive_keys(benchmark::State& state) {
  Graph g;
  const Ref root = shared_terms(g, static_cast<size_t>(state.range(0)));
  while (state.KeepRunning()) {
    g.facts().keys.clear();
    benchmark::DoNotOptimize(key(g, root));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(derive_keys)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::uop
