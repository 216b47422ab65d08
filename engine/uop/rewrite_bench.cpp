#include <benchmark/benchmark.h>

#include <array>
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

// Index terms that simplify: (((r0*4 + r1) // 4)*4 + r0 % 4) and the like, one upon another.
Ref index_chain(Graph& g, int length) {
  const Ref four = g.constant(Index, 4);
  Ref u = g.variable("r0", of_int(Index, 0), of_int(Index, 1023));
  for (int i = 0; i < length; i++) {
    const Value hi = of_int(Index, 3 + i);
    const Ref r = g.variable("r" + std::to_string(i + 1), of_int(Index, 0), hi);
    const Ref product = g.alu(Op::Mul, {four, u});
    const Ref sum = g.alu(Op::Add, {r, product});
    const Ref quotient = g.alu(Op::Div, {sum, four});
    const Ref rest = g.alu(Op::Mod, {quotient, four});
    u = g.alu(Op::Mod, {rest, g.constant(Index, 7)});
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
  for (auto _ : state) {
    Run run(g);
    benchmark::DoNotOptimize(run.rewrite(sets, root).value());
    visits += run.visits();
    firings += run.firings();
  }
  state.SetItemsProcessed(static_cast<int64_t>(visits));
  state.counters["firings"] =
      benchmark::Counter(static_cast<double>(firings), benchmark::Counter::kIsRate);
}

void BM_RewriteSkippedByOps(benchmark::State& state) {
  const std::array<const RuleSet*, 2> sets = {&div_mod_rules(), &movement_rules()};
  rewrite_all(state, sets, false, float_chain);
}
BENCHMARK(BM_RewriteSkippedByOps)->Arg(100'000);

void BM_RewriteNothingFires(benchmark::State& state) {
  rewrite_all(state, symbolic_rules(), true, float_chain);
}
BENCHMARK(BM_RewriteNothingFires)->Arg(100'000);

void BM_RewriteFires(benchmark::State& state) {
  rewrite_all(state, symbolic_rules(), false, index_chain);
}
BENCHMARK(BM_RewriteFires)->Arg(10'000);

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
  for (const std::string& text : line.valid) {
    conditions.push_back(from_prefix(g, text, leaves).value());
  }
  const Ref gate = conjunction(g, conditions);
  return g.make(Op::Where, Index, {gate, index, g.make(Op::Invalid, Index, {})});
}

// All 500, each in a graph of its own; reading them is not counted.
void BM_SimplifyPeerExpressions(benchmark::State& state) {
  const std::vector<Line> lines = peer_lines();
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<std::unique_ptr<Graph>> graphs;
    std::vector<Ref> terms;
    for (const Line& line : lines) {
      graphs.push_back(std::make_unique<Graph>());
      terms.push_back(term_of(*graphs.back(), line));
    }
    state.ResumeTiming();
    for (size_t i = 0; i < lines.size(); i++) {
      Run run(*graphs[i]);
      benchmark::DoNotOptimize(simplify(run, terms[i]).value());
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(lines.size()));
}
BENCHMARK(BM_SimplifyPeerExpressions)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::uop
