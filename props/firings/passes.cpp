#include "props/firings/passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/schedule/kernel_graph.h"
#include "engine/uop/pass.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "props/firings/align.h"
#include "props/firings/pass_run.h"
#include "props/firings/tensor_run.h"

namespace assay::props {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;

constexpr int kPassInputs = 2;
constexpr OpSet kStates = {Op::After, Op::Buffer, Op::Param};

bool is_tensor_graph(Ref root) {
  return root->op == Op::Sink && !root->src.empty() &&
         std::all_of(root->src.begin(), root->src.end(), [](Ref u) { return kStates.has(u->op); });
}

// Whether the graph is between run_rangeify and split_store: its stores are no kernel's.
bool has_open_stores(Graph& g, Ref root) {
  for (const Ref u : uop::toposort(g, root, uop::Extent::OutsideBodies)) {
    if (u->op == Op::End || (u->op == Op::Index && u->src[0]->op == Op::Stage)) return true;
  }
  return false;
}

class PassChecker {
 public:
  PassChecker(const uop::PassSeen& seen, Context& context)
      : g_(seen.graph), seen_(seen), context_(context) {}

  Checked run() {
    if (seen_.breach) {
      fail({{Answer::Fail, Strength::Proved, *seen_.breach}, "spec"});
    } else if (seen_.before == seen_.after) {
      checked_.add({Answer::Pass, Strength::Proved, ""}, "folding");
    } else if (is_tensor_graph(seen_.before)) {
      compare_tensors();
    } else if (seen_.before->op == Op::Sink) {
      compare_kernels();
    } else {
      FiringChecker checker(context_);
      count(checker.judge(g_, seen_.before, seen_.after));
    }
    return std::move(checked_);
  }

 private:
  void fail(const Outcome& outcome) {
    Verdict verdict = outcome.verdict;
    verdict.evidence = fmt::format("after {}: {}", seen_.pass.name, verdict.evidence);
    checked_.add(verdict, outcome.method);
    checked_.shape = std::string(seen_.pass.name);
    checked_.evidence.push_back(
        {"before.uop", uop::to_text(g_, seen_.before, seen_.pass.accepts.name)});
    checked_.evidence.push_back(
        {"after.uop", uop::to_text(g_, seen_.after, seen_.pass.yields.name)});
  }
  void count(const Outcome& outcome) {
    if (outcome.verdict.answer == Answer::Fail) return fail(outcome);
    if (outcome.verdict.answer == Answer::Pass)
      return checked_.add(outcome.verdict, outcome.method);
    checked_.add_unknown(outcome.method,
                         fmt::format("after {}: {}", seen_.pass.name, outcome.verdict.evidence));
  }

  // As a kernel graph, where it is one but for stores that are not yet kernels.
  Result<Ref> runnable(Ref root) {
    if (!has_open_stores(g_, root)) return root;
    uop::Run run(g_, {}, nullptr, context_.target);
    return uop::run_pass(schedule::split_store_pass(), run, root);
  }

  void compare_tensors() {
    const Result<Ref> before = runnable(seen_.before);
    const Result<Ref> after = runnable(seen_.after);
    for (const Result<Ref>* root : {&before, &after}) {
      if (!root->ok()) return checked_.add_unknown("not run", to_string(root->error()));
    }
    if (before.value() == after.value()) {
      return checked_.add({Answer::Pass, Strength::Sampled, "made again"}, "structure");
    }
    const auto left = before.value()->src;
    const auto right = after.value()->src;
    if (left.size() != right.size()) {
      return fail({{Answer::Fail, Strength::Proved, "states are lost"}, "structure"});
    }
    for (size_t i = 0; i < left.size(); i++) count(judge_tensors(g_, left[i], right[i], context_));
  }

  void compare_kernels() {
    const Aligned aligned = align(g_, seen_.before, seen_.after, context_);
    for (const auto& [method, terms] : aligned.by_method) {
      for (int64_t i = 0; i < terms; i++) {
        checked_.add({Answer::Pass, Strength::Proved, ""}, method);
      }
    }
    if (aligned.is_proved()) {
      if (aligned.proved == 0) checked_.add({Answer::Pass, Strength::Proved, ""}, "structure");
      return;
    }
    count(judge_kernel_runs(g_, seen_.before, seen_.after, kPassInputs, context_));
  }

  Graph& g_;
  const uop::PassSeen& seen_;
  Context& context_;
  Checked checked_;
};

}  // namespace

Checked pass_keeps_meaning(const uop::PassSeen& seen, Context& context) {
  return PassChecker(seen, context).run();
}

}  // namespace assay::props
