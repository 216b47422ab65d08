// Passes over kernels and tensors, and mistakes planted behind them.
#include "props/firings/passes.h"

#include <gtest/gtest.h>

#include "engine/codegen/pipeline.h"
#include "engine/schedule/kernel_graph.h"
#include "engine/uop/pass.h"
#include "engine/uop/walk.h"
#include "oracles/node_spoiler.h"
#include "oracles/passes/random_kernel.h"
#include "props/firings/stock.h"
#include "props/firings/test_compile.h"
#include "props/firings/test_context.h"

namespace assay::props {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;

// Asks of each pass whether it keeps meaning; or of one, behind which a mistake is planted.
class PassWatch : public uop::Watch {
 public:
  using Spoil = Ref (*)(Graph& g, Ref u);
  explicit PassWatch(const uop::Target& target) : target_(target) {}

  void plant(std::string_view stage, Spoil spoil) {
    stage_ = stage;
    spoil_ = spoil;
  }
  bool edits() const override { return spoil_ != nullptr; }
  Ref edit(std::string_view stage, Graph& g, Ref root) override {
    if (spoil_ == nullptr || stage != stage_) return root;
    for (const Ref u : uop::toposort(g, root)) {
      const Ref wrong = spoil_(g, u);
      if (wrong == u) continue;
      planted_++;
      return uop::substitute(g, root, {{u, wrong}});
    }
    return root;
  }
  using uop::Watch::seen;
  void seen(const uop::PassSeen& seen) override {
    if (spoil_ != nullptr && seen.pass.name != stage_) return;
    Context context = {prover_, target_};
    const Checked checked = pass_keeps_meaning(seen, context);
    passes++;
    obligations += checked.obligations;
    unknown += checked.unknown;
    if (checked.verdict.strength != Strength::Sampled) proved++;
    for (const auto& [method, count] : checked.by_method) by_method[method] += count;
    if (checked.verdict.answer == Answer::Unknown && why.empty()) why = checked.verdict.evidence;
    if (checked.verdict.answer != Answer::Fail) return;
    failed++;
    if (first.empty()) first = checked.shape + ": " + checked.verdict.evidence;
  }
  int planted() const { return planted_; }

  int passes = 0;
  int proved = 0;
  int failed = 0;
  int64_t obligations = 0;
  int64_t unknown = 0;
  std::map<std::string, int64_t> by_method;
  std::string first;  // failure
  std::string why;    // the first unknown one

 private:
  smt::Prover prover_;
  const uop::Target& target_;
  std::string_view stage_;
  Spoil spoil_ = nullptr;
  int planted_ = 0;
};

TEST(PassesOfKernels, KeepMeaning) {
  PassWatch watch(stock_target());
  for (uint64_t seed = 0; seed < 12; seed++) {
    Graph g;
    const Ref kernel = oracles::RandomKernel(g, seed).make();
    uop::Run run(g, {}, &watch, stock_target());
    const auto done = uop::run_passes(codegen::pipeline(), run, kernel);
    ASSERT_TRUE(done.ok()) << to_string(done.error());
  }
  EXPECT_EQ(watch.failed, 0) << watch.first;
  EXPECT_EQ(watch.unknown, 0) << watch.why;
  EXPECT_GE(watch.proved, watch.passes / 4);
  EXPECT_GT(watch.by_method["execution"], 0);
  EXPECT_GT(watch.by_method["work-group machine"], 0);
}

TEST(PassesOfPrograms, KeepMeaning) {
  PassWatch watch(workgroup::sim_target());
  for (const auto* name : {"move.tp", "source.tp", "view.tp"}) {
    const auto path = std::filesystem::path(ASSAY_SOURCE_DIR) / "corpus/ops" / name;
    const auto done = compile_text(corpus_text(path), workgroup::sim_target(), &watch);
    ASSERT_TRUE(done.ok()) << to_string(done.error());
  }
  EXPECT_EQ(watch.failed, 0) << watch.first;
  EXPECT_EQ(watch.unknown, 0) << watch.why;
}

// u with a mistake in it; u itself where there is no place for one.
Ref next_index(Graph& g, Ref u) {
  if (u->op != Op::Index || u->src.size() != 2) return u;
  const Ref base = u->src[0];
  const Ref index = u->src[1];
  if (index->op == Op::Where || index->op == Op::Stack || uop::is_const(index)) return u;
  const Ref one = g.constant(index->dtype, 1);
  const Ref next = g.alu(Op::Xor, {index, one});
  return g.with_sources(u, std::array{base, next});
}
Ref ungated(Graph& g, Ref u) {
  if (u->op != Op::Index || u->src.size() != 2 || u->src[1]->op != Op::Where) return u;
  if (u->src[1]->src[2]->op != Op::Invalid) return u;
  const Ref index = u->src[1]->src[1];
  return g.with_sources(u, std::array{u->src[0], index});
}
Ref minimum(Graph& g, Ref u) { return u->op == Op::Max ? g.make(Op::Min, u->dtype, u->src) : u; }
Ref next_constant(Graph& g, Ref u) {
  const bool has_constant = u->op == Op::Add && uop::is_float(u->dtype) && uop::is_const(u->src[1]);
  if (!has_constant) return u;
  const uop::Value more = uop::of_double(u->dtype, uop::as_double(u->src[1]->value()) + 1);
  const Ref constant = g.constant(more);
  return g.alu(Op::Add, {u->src[0], constant});
}

struct Planted {
  std::string_view pass;
  PassWatch::Spoil spoil;
};

// Behind each pass: an index, a gate, an operation and a constant that are others.
TEST(PassesOfKernels, AreSeenToFail) {
  const Planted faults[] = {
      {"simplify_kernel", next_index}, {"simplify_kernel", ungated}, {"apply_opts", minimum},
      {"simplify_ranges", next_index}, {"index_width", next_index},  {"decompose", next_constant},
      {"load_collapse", ungated},      {"linearize", next_index},
  };
  for (const Planted& fault : faults) {
    int planted = 0;
    int failed = 0;
    std::string first;
    for (uint64_t seed = 0; seed < 60 && failed < 2; seed++) {
      Graph g;
      PassWatch watch(stock_target());
      watch.plant(fault.pass, fault.spoil);
      const Ref kernel = oracles::RandomKernel(g, seed).make();
      uop::Run run(g, {}, &watch, stock_target());
      (void)uop::run_passes(codegen::pipeline(), run, kernel);
      planted += watch.planted();
      failed += watch.first.starts_with(fault.pass) ? 1 : 0;
    }
    EXPECT_GE(planted, 1) << fault.pass;
    EXPECT_GE(failed, 1) << fault.pass << " of " << planted;
  }
}

Ref stores_squares(Graph& g, Ref u) {
  if (u->op != Op::Store || u->src[1]->dtype == DType::Bool) return u;
  const Ref value = u->src[1];
  const Ref square = g.alu(Op::Mul, {value, value});
  return g.with_sources(u, std::array{u->src[0], square});
}

// The value of a store without a flip that is in it.
Ref unflipped(Graph& g, Ref u) {
  if (u->op != Op::Store) return u;
  for (const Ref flip : uop::toposort(g, u->src[1])) {
    if (flip->op != Op::Flip) continue;
    const Ref kept = g.make(Op::Contiguous, flip->dtype, {flip->src[0]});
    const Ref value = uop::substitute(g, u->src[1], {{flip, kept}});
    return g.with_sources(u, std::array{u->src[0], value});
  }
  return u;
}

TEST(PassesOfTensors, AreSeenToFail) {
  const PassWatch::Spoil spoils[] = {stores_squares, unflipped};
  for (const auto spoil : spoils) {
    int failed = 0;
    for (uint64_t seed = 0; seed < 80 && failed == 0; seed++) {
      Graph g;
      oracles::Choices choices(seed);
      const auto sink = tensor_stock(g, choices, true);
      ASSERT_TRUE(sink.ok());
      PassWatch watch(stock_target());
      watch.plant("prepare_rangeify", spoil);
      uop::Run run(g, {}, &watch, stock_target());
      (void)schedule::get_kernel_graph(run, sink.value(), stock_target());
      failed += watch.first.starts_with("prepare_rangeify") ? 1 : 0;
    }
    EXPECT_EQ(failed, 1);
  }
}

// A kernel whose index was simplified is proved, and costs no run.
TEST(PassesOfKernels, AreProvedWhereNodesArePairs) {
  Graph g;
  const Ref n = g.constant(DType::Index, 12);
  const Ref r = g.make(Op::Range, DType::Index, {n}, uop::Arg::axis(0, uop::AxisType::Weak));
  const auto kernel = [&](Ref index) {
    const Ref out = g.make(Op::Param, DType::F32, {n}, uop::Arg::number(0));
    const Ref in = g.make(Op::Param, DType::F32, {n}, uop::Arg::number(1));
    const Ref x = g.make(Op::Index, DType::F32, {in, index});
    const Ref to = g.make(Op::Index, DType::F32, {out, r});
    const Ref store = g.make(Op::Store, DType::Void, {to, x});
    const Ref end = g.make(Op::End, DType::Void, {store, r});
    return g.make(Op::Sink, DType::Void, {end}, g.info("k", {}));
  };
  const Ref four = g.constant(DType::Index, 4);
  const Ref row = g.alu(Op::Div, {r, four});
  const Ref begin = g.alu(Op::Mul, {row, four});
  const Ref column = g.alu(Op::Mod, {r, four});
  const Ref before = kernel(g.alu(Op::Add, {begin, column}));
  const auto judge = [&](Ref after) {
    TestContext with;
    static const uop::Pass pass = {
        .name = "simplify", .accepts = uop::graph_spec(), .yields = uop::graph_spec(), .rules = {}};
    const std::optional<std::string> breach;
    return pass_keeps_meaning({pass, g, before, after, 0, breach}, with.context);
  };
  const Checked proved = judge(kernel(r));
  EXPECT_EQ(proved.verdict.answer, Answer::Pass) << proved.verdict.evidence;
  EXPECT_NE(proved.verdict.strength, Strength::Sampled);
  EXPECT_FALSE(proved.by_method.contains("execution"));
  const Checked wrong = judge(kernel(g.alu(Op::Add, {column, column})));
  EXPECT_EQ(wrong.verdict.answer, Answer::Fail);
  EXPECT_EQ(wrong.shape, "simplify");
}

}  // namespace
}  // namespace assay::props
