#include <benchmark/benchmark.h>

#include <array>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/check.h"
#include "engine/uop/given.h"
#include "engine/uop/prefix.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/simplify.h"

namespace assay::uop {
namespace {

// A chain of float operations, as an element-wise kernel is, in which no symbolic rule fires.
Ref float_chain(Graph& g, int length) {
  const std::array leaves = {g.variable("x", F32), g.variable("y", F32), g.variable("z", F32)};
  constexpr std::array kOps = {Op::Add, Op::Mul, Op::Max};
  Ref u = leaves[0];
  for (int i = 0; i < length; i++) {
    const Ref x = leaves[static_cast<size_t>(i) % 3];
    u = g.alu(kOps[static_cast<size_t>(i / 3) % 3], {x, u});
  }
  return u;
}

// A chain of which every second node is rewritten: units, selects of constants, casts of casts,
// constants that meet, and index terms.
Ref mixed_chain(Graph& g, int length) {
  const Ref x = g.variable("x", F32);
  const Ref n = g.variable("n", of_int(I32, 0), of_int(I32, 100));
  const Ref one = g.constant(F32, 1);
  const Ref yes = g.constant(of_bool(true));
  Ref f = x;
  Ref i = n;
  for (int k = 0; k < length; k++) {
    const Ref product = g.alu(Op::Mul, {one, f});
    const Ref larger = g.alu(Op::Max, {product, x});
    const Ref selected = g.alu(Op::Where, {yes, larger, f});
    f = g.alu(Op::Add, {x, selected});
    const Ref wide = g.make(Op::Cast, I64, {i});
    const Ref narrow = g.make(Op::Cast, I32, {wide});
    const Ref masked = g.alu(Op::And, {narrow, n});
    i = g.alu(Op::Xor, {masked, g.constant(I32, k % 7)});
  }
  return g.make(Op::Sink, Void, {f, i});
}

// Index terms of which each holds the one before: ((4*u + r) // 4 % 4) % 3 …
Ref index_chain(Graph& g, int length) {
  const Ref four = g.constant(Index, 4);
  Ref u = g.variable("r0", of_int(Index, 0), of_int(Index, 1023));
  for (int i = 0; i < length; i++) {
    const Ref r = g.variable("r" + std::to_string(i + 1), of_int(Index, 0), of_int(Index, 5));
    const Ref product = g.alu(Op::Mul, {four, u});
    const Ref sum = g.alu(Op::Add, {r, product});
    const Ref quotient = g.alu(Op::Div, {sum, four});
    const Ref rest = g.alu(Op::Mod, {quotient, four});
    u = g.alu(Op::Mod, {rest, g.constant(Index, 3)});
  }
  return u;
}

void rewrite_all(benchmark::State& state, std::span<const RuleSet* const> sets, bool in_normal_form,
                 Ref (*make)(Graph&, int)) {
  Graph g;
  Ref root = make(g, static_cast<int>(state.range(0)));
  if (in_normal_form) root = Run(g).rewrite(sets, root).value();
  uint64_t visits = 0;
  uint64_t firings = 0;
  while (state.KeepRunning()) {
    Run run(g);
    benchmark::DoNotOptimize(run.rewrite(sets, root).value());
    visits += run.visits();
    firings += run.firings();
  }
  state.SetItemsProcessed(static_cast<int64_t>(visits));
  state.counters["firings"] =
      benchmark::Counter(static_cast<double>(firings), benchmark::Counter::kIsRate);
}

void rewrite_skipped_by_ops(benchmark::State& state) {
  const std::array<const RuleSet*, 2> sets = {&div_mod_rules(), &movement_rules()};
  rewrite_all(state, sets, false, float_chain);
}
BENCHMARK(rewrite_skipped_by_ops)->Arg(100'000);

void rewrite_nothing_fires(benchmark::State& state) {
  rewrite_all(state, symbolic_rules(), true, float_chain);
}
BENCHMARK(rewrite_nothing_fires)->Arg(100'000);

void rewrite_fires(benchmark::State& state) {
  rewrite_all(state, symbolic_rules(), false, mixed_chain);
}
BENCHMARK(rewrite_fires)->Arg(10'000);

void rewrite_index_terms(benchmark::State& state) {
  rewrite_all(state, symbolic_rules(), false, index_chain);
}
BENCHMARK(rewrite_index_terms)->Arg(10'000);

struct Line {
  std::vector<int64_t> max;
  std::string index;
  std::vector<std::string> valid;
};

std::vector<Line> peer_lines() {
  std::ifstream file(ASSAY_SOURCE_DIR "/engine/uop/testdata/index_expressions.jsonl");
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    const nlohmann::json json = nlohmann::json::parse(text);
    lines.push_back({json["max"], json["index"], json.value("valid", std::vector<std::string>())});
  }
  ASSAY_CHECK(lines.size() == 500, "the peer's file has {} lines", lines.size());
  return lines;
}

Ref term_of(Graph& g, const Line& line) {
  Leaves leaves;
  for (const int64_t max : line.max) {
    const std::string name = "r" + std::to_string(leaves.size());
    leaves.emplace(name, g.variable(name, of_int(Index, 0), of_int(Index, max)));
  }
  const Ref index = from_prefix(g, line.index, leaves).value();
  if (line.valid.empty()) return index;
  std::vector<Ref> conditions;
  conditions.reserve(line.valid.size());
  for (const std::string& text : line.valid) {
    conditions.push_back(from_prefix(g, text, leaves).value());
  }
  const Ref gate = conjunction(g, conditions);
  return g.make(Op::Where, Index, {gate, index, g.make(Op::Invalid, Index, {})});
}

// All 500 together, each in a graph of its own: the processor time of simplifying alone.
void simplify_peer_expressions(benchmark::State& state) {
  const std::vector<Line> lines = peer_lines();
  uint64_t visits = 0;
  while (state.KeepRunning()) {
    std::clock_t spent = 0;
    for (const Line& line : lines) {
      Graph g;
      const Ref term = term_of(g, line);
      Run run(g);
      const std::clock_t start = std::clock();
      benchmark::DoNotOptimize(simplify(run, term).value());
      spent += std::clock() - start;
      visits += run.visits();
    }
    state.SetIterationTime(static_cast<double>(spent) / CLOCKS_PER_SEC);
  }
  state.SetItemsProcessed(static_cast<int64_t>(visits));
}
BENCHMARK(simplify_peer_expressions)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace assay::uop
