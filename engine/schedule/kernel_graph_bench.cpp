// From tensor graph to kernel graph, step by step, for the twelve programs that the peer was timed
// on, in processor time: each in a fresh graph.
#include <benchmark/benchmark.h>

#include <array>
#include <ctime>
#include <memory>

#include "engine/check.h"
#include "engine/schedule/kernel_graph.h"
#include "engine/schedule/prepare.h"
#include "engine/schedule/rangeify.h"
#include "engine/schedule/seed_program.h"
#include "engine/schedule/stages.h"

namespace assay::schedule {
namespace {

constexpr std::array<const char*, 12> kTimed = {
    "elementwise", "softmax",           "layernorm", "matmul", "mlp",    "conv",
    "attention",   "transformer_block", "sum_all",   "cumsum", "rotary", "sgd_step"};

// Processor time, which others' load does not show in.
double now() {
  timespec t = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Runs one step and adds the seconds that it took.
template <typename Step>
Ref timed(double& seconds, Step step) {
  const double begin = now();
  const Result<Ref> made = step();
  seconds += now() - begin;
  ASSAY_CHECK(made.ok(), "{}", to_string(made.error()));
  return made.value();
}

// A tensor graph in a graph of its own.
struct Body {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  Ref root = nullptr;
};

Body body_of(const char* name) {
  Session session;
  const Result<Ref> body = seed_body(session, seed_program(name));
  ASSAY_CHECK(body.ok(), "{}", to_string(body.error()));
  Body copy;
  copy.root = uop::copy_to(*copy.graph, session.graph(), body.value());
  return copy;
}

void run_steps(const Body& body, std::array<double, 4>& seconds) {
  Graph g;
  Ref u = uop::copy_to(g, *body.graph, body.root);
  uop::Run run(g);
  u = timed(seconds[0], [&] { return prepare_rangeify(run, u); });
  u = timed(seconds[1], [&] { return run_rangeify(run, u); });
  u = timed(seconds[2], [&] { return run_pass(remove_stages_pass(), run, u); });
  u = timed(seconds[3], [&] { return run_pass(split_store_pass(), run, u); });
}

void kernel_graph(benchmark::State& state) {
  std::vector<Body> bodies;
  for (size_t i = 0; i < kTimed.size(); ++i) {
    if (state.range(0) >= 0 && i != static_cast<size_t>(state.range(0))) continue;
    bodies.push_back(body_of(kTimed.at(i)));
    state.SetLabel(state.range(0) < 0 ? "all" : kTimed.at(i));
  }
  std::array<double, 4> all = {};
  for (auto _ : state) {
    std::array<double, 4> seconds = {};
    for (const Body& body : bodies) run_steps(body, seconds);
    state.SetIterationTime(seconds[0] + seconds[1] + seconds[2] + seconds[3]);
    for (size_t i = 0; i < 4; ++i) all.at(i) += seconds.at(i) * 1e6;
  }
  const auto per_round = [&](size_t i) {
    return benchmark::Counter(all.at(i), benchmark::Counter::kAvgIterations);
  };
  state.counters["prepare_us"] = per_round(0);
  state.counters["rangeify_us"] = per_round(1);
  state.counters["stages_us"] = per_round(2);
  state.counters["split_us"] = per_round(3);
}
BENCHMARK(kernel_graph)->DenseRange(-1, kTimed.size() - 1)->UseManualTime();

}  // namespace
}  // namespace assay::schedule
