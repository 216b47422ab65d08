#include "props/firings/checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/uop/refines.h"
#include "engine/uop/rule.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "props/firings/kernel_run.h"
#include "props/firings/movement.h"
#include "props/firings/tensor_run.h"

namespace assay::props {
namespace {

using uop::DType;
using uop::Graph;
using uop::Key;
using uop::Op;
using uop::OpSet;
using uop::Ref;

// What stands in kernels alone.
constexpr OpSet kOfKernels = {Op::Special, Op::End,   Op::Barrier, Op::If,
                              Op::EndIf,   Op::Index, Op::Load};

bool is_of_kernel(Graph& g, Ref u) {
  if (!uop::ranges(g, u).empty()) return true;
  const std::vector<Ref> nodes = uop::toposort(g, u, uop::Extent::OutsideBodies);
  return std::any_of(nodes.begin(), nodes.end(), [](Ref v) { return kOfKernels.has(v->op); });
}

Key both(Key a, Key b) { return {a.high * 0x9E3779B97F4A7C15U + b.low, a.low ^ b.high * 3}; }

// The same for firings that differ in the numbers of ranges, buffers and parameters.
Key key_of_nodes(Graph& g, Ref before, Ref after) {
  Graph own;
  const Ref left = uop::copy_to(own, g, before);
  const Ref right = uop::copy_to(own, g, after);
  const Ref all = own.make(Op::Group, DType::Void, {left, right});
  return uop::key(own, uop::renumber(own, all));
}

Outcome judge_by_running(Graph& g, Ref before, Ref after, Context& context) {
  return is_of_kernel(g, before) ? judge_kernels(g, before, after, context)
                                 : judge_tensors(g, before, after, context);
}

std::string text_of(Graph& g, Ref u) { return uop::to_text(g, u, "firing"); }

}  // namespace

// As scalar terms; nothing where they are none.
std::optional<Outcome> FiringChecker::judge_terms(Graph& g, Ref before, Ref after) {
  if (uop::shape(g, before).data() != uop::shape(g, after).data()) return std::nullopt;
  for (const bool is_general : {true, false}) {
    Graph own;
    const auto pair = scalar_pair(g, before, after, {.is_general = is_general}, own);
    if (!pair) return std::nullopt;
    Outcome judged = recall_scalar(own, *pair, context_);
    if (judged.verdict.answer == Answer::Pass || !is_general) return judged;
  }
  return std::nullopt;
}

Outcome FiringChecker::judge_nodes(Graph& g, Ref before, Ref after) {
  const Key key = key_of_nodes(g, before, after);
  auto& memo = context_.firings->known;
  const auto known = memo.find(key);
  if (known != memo.end()) return known->second;
  const Ref base = uop::is_movement(before->op) ? moved_base(before, after) : nullptr;
  // A constant may be what a pad adds.
  Outcome judged = base != nullptr && !uop::is_const(base)
                       ? judge_movement(g, before, after, context_)
                       : judge_by_running(g, before, after, context_);
  if (judged.verdict.answer == Answer::Pass) memo.emplace(key, judged);
  return judged;
}

const Outcome& FiringChecker::judge(Graph& g, Ref before, Ref after) {
  asked_++;
  const Key key = both(uop::key(g, before), uop::key(g, after));
  const auto known = exact_.known.find(key);
  if (known != exact_.known.end()) return known->second;
  judged_++;
  Outcome result;
  std::optional<Outcome> terms;
  if (before->dtype != after->dtype) {
    result = {{Answer::Fail, Strength::Proved, "types differ"}, "structure"};
  } else if (terms = judge_terms(g, before, after); terms && terms->method != "opaque") {
    result = *terms;
  } else {
    result = judge_nodes(g, before, after);
    // What cannot be run is unknown for the reason that its terms gave.
    if (terms && result.verdict.answer == Answer::Unknown) result = *terms;
  }
  return exact_.known.try_emplace(key, std::move(result)).first->second;
}

void FiringChecker::check(const uop::RuleSeen& seen, Checked& checked) {
  const int64_t judged_before = judged_;
  const Outcome& j = judge(seen.graph, seen.before, seen.after);
  if (judged_ == judged_before) return;
  const std::string name = uop::full_name(seen.set, seen.rule);
  if (j.verdict.answer == Answer::Unknown) {
    checked.add_unknown(j.method, fmt::format("{}: {}", name, j.verdict.evidence));
    return;
  }
  const bool is_first_failure =
      j.verdict.answer == Answer::Fail && checked.verdict.answer != Answer::Fail;
  Verdict verdict = j.verdict;
  if (verdict.answer == Answer::Fail) verdict.evidence = name + ": " + verdict.evidence;
  checked.add(verdict, j.method);
  if (!is_first_failure) return;
  checked.shape = name;
  checked.evidence.push_back({"before.uop", text_of(seen.graph, seen.before)});
  checked.evidence.push_back({"after.uop", text_of(seen.graph, seen.after)});
}

Checked rule_firing_keeps_meaning(const uop::RuleSeen& seen, Context& context) {
  FiringChecker checker(context);
  Checked checked;
  checker.check(seen, checked);
  return checked;
}

void FiringWatch::seen(const uop::RuleSeen& seen) {
  firings_[uop::full_name(seen.set, seen.rule)]++;
  checker_.check(seen, checked_);
}

}  // namespace assay::props
