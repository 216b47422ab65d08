#include "props/firings/termination.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/codegen/pipeline.h"
#include "engine/schedule/prepare.h"
#include "engine/schedule/prepare_rules.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rule_check.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/simplify.h"
#include "engine/uop/text.h"
#include "props/firings/measure.h"
#include "props/firings/stock.h"
#include "props/firings/term.h"

namespace assay::props {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;
using uop::Rule;
using uop::RuleSet;

constexpr OpSet kOnTensors = {Op::Reduce, Op::Copy, Op::Contiguous, Op::Store};
// Draws of an instance for one that fires.
constexpr int kDraws = 40;

class TerminationChecker {
 public:
  TerminationChecker(std::span<const RuleSet* const> sets, Context& context,
                     const TerminationBudget& budget)
      : sets_(sets), context_(context), budget_(budget) {}

  Checked run(std::span<const std::string> saved) {
    for (const std::string& text : saved) {
      Graph g;
      const auto parsed = uop::from_text(g, text);
      if (parsed.ok()) rewrite(g, parsed.value().root);
    }
    run_on_random_graphs();
    for (const RuleSet* set : sets_) {
      for (const Rule& rule : set->rules()) try_rule(*set, rule);
    }
    checked_.listed.insert(checked_.listed.end(), undoing_.begin(), undoing_.end());
    return std::move(checked_);
  }

 private:
  void rewrite(Graph& g, Ref root) {
    uop::Run run(g, {}, nullptr, context_.target);
    const Result<Ref> done = run.rewrite(
        sets_, root, {.order = uop::Order::BottomUp, .extent = uop::Extent::Everything});
    if (done.ok()) {
      checked_.add({Answer::Pass, Strength::Sampled, ""}, "runs");
      return;
    }
    const std::string trouble = to_string(done.error());
    checked_.add({Answer::Fail, Strength::Sampled, trouble}, "runs");
    if (!checked_.shape.empty()) return;
    checked_.shape = trouble;
    checked_.evidence.push_back({"endless.uop", uop::to_text(g, root, "graph")});
  }

  void run_on_random_graphs() {
    OpSet roots;
    for (const RuleSet* set : sets_) roots = roots | set->roots();
    OpSet moves;
    bool has_terms = false;
    for (int i = 0; i < uop::kOpCount; i++) {
      const Op op = static_cast<Op>(i);
      if (roots.has(op) && uop::is_movement(op)) moves.insert(op);
      has_terms = has_terms || (roots.has(op) && uop::is_scalar(op));
    }
    for (int i = 0; i < budget_.terms && has_terms; i++) {
      Graph g;
      Choices choices(context_.seed * 7'919 + static_cast<uint64_t>(i));
      const auto types = static_cast<uint64_t>(uop::kDTypeCount - 1);
      const DType t = i % 2 == 0 ? DType::Index : DType(1 + choices.below(types));
      TermMaker maker(g, choices);
      rewrite(g, maker.term(t, 2 + static_cast<int>(choices.below(24))));
    }
    for (int i = 0; i < budget_.graphs; i++) {
      Graph g;
      Choices choices(context_.seed * 7'919 + static_cast<uint64_t>(i));
      if (!moves.empty()) rewrite(g, moved_stock(g, choices, moves));
      if (roots.meets(kOnTensors)) {
        const Result<Ref> tensors = tensor_stock(g, choices, false);
        if (tensors.ok()) rewrite(g, tensors.value());
      }
      if (roots.has(Op::End) && i % 4 == 0) {
        const Result<Ref> kernel = kernel_stock(g, choices);
        if (kernel.ok()) rewrite(g, kernel.value());
      }
    }
  }

  // A pattern rule's own match, written out with variables for its holes.
  void try_rule(const RuleSet& set, const Rule& rule) {
    if (rule.by != nullptr) return;
    const auto measure = lowered_measure(rule);
    if (measure) {
      checked_.add({Answer::Pass, Strength::Proved, ""}, fmt::format("measure: {}", *measure));
    } else {
      checked_.listed.push_back(fmt::format("{} lowers no measure", uop::full_name(set, rule)));
    }
    for (int i = 0; i < uop::kDTypeCount; i++) {
      if (rule.over.has(DType(i))) try_instances(set, rule, DType(i));
    }
  }

  void try_instances(const RuleSet& set, const Rule& rule, DType t) {
    uop::Random random(context_.seed);
    int tried = 0;
    for (int draw = 0; draw < kDraws && tried < budget_.instances; draw++) {
      Graph g;
      const Ref before = uop::detail::Instance(g, random, draw % 2 == 0).make(rule.match, t);
      if (before == nullptr) continue;
      for (const RuleSet::Entry& entry : set.entries(before->op)) {
        if (entry.compiled->rule != &rule) continue;
        const Ref after = applied(g, entry, before);
        if (after == nullptr) continue;
        tried++;
        rewrite(g, before);
        rewrite(g, after);
        note_undoing(g, set, rule, before, after);
        break;
      }
    }
  }

  // What one row makes of a node; null where it does not fire.
  Ref applied(Graph& g, const RuleSet::Entry& entry, Ref u) {
    const Op first = u->src.empty() ? Op::Noop : u->src[0]->op;
    const Op second = u->src.size() < 2 ? Op::Noop : u->src[1]->op;
    const bool may_match =
        entry.first.has(first) && entry.second.has(second) && entry.over.has(uop::judged_type(u));
    if (!may_match) return nullptr;
    uop::Run run(g, {}, nullptr, context_.target);
    const Ref after = uop::apply(run, entry, u);
    return after == u ? nullptr : after;
  }

  // Rules that would turn what the rule made into what it was made of.
  void note_undoing(Graph& g, const RuleSet& set, const Rule& rule, Ref before, Ref after) {
    for (const RuleSet* other : sets_) {
      for (const RuleSet::Entry& entry : other->entries(after->op)) {
        if (applied(g, entry, after) != before) continue;
        undoing_.insert(fmt::format("{} may undo {}", uop::full_name(*other, *entry.compiled->rule),
                                    uop::full_name(set, rule)));
      }
    }
  }

  std::span<const RuleSet* const> sets_;
  Context& context_;
  TerminationBudget budget_;
  Checked checked_;
  std::set<std::string> undoing_;
};

}  // namespace

std::vector<Applied> applied_together() {
  std::vector<Applied> all;
  const auto add = [&](std::string name, std::span<const RuleSet* const> sets) {
    const std::vector<const RuleSet*> list(sets.begin(), sets.end());
    const auto same = [&](const Applied& a) { return a.sets == list; };
    if (!list.empty() && std::none_of(all.begin(), all.end(), same)) {
      all.push_back({std::move(name), list});
    }
  };
  for (const auto passes :
       {uop::simplify_passes(), schedule::prepare_passes(), codegen::pipeline()}) {
    for (const uop::Pass* pass : passes) add(std::string(pass->name), pass->rules);
  }
  const RuleSet* const stores[] = {&schedule::store_rules()};
  add("prepare_stores", stores);
  add("symbolic_rules", uop::symbolic_rules());
  const RuleSet* const invalid[] = {&uop::invalid_rules()};
  add("invalid_rules", invalid);
  return all;
}

Checked check_termination(std::span<const RuleSet* const> sets, Context& context,
                          std::span<const std::string> saved, const TerminationBudget& budget) {
  return TerminationChecker(sets, context, budget).run(saved);
}

Checked check_termination(const RuleSet& set, Context& context, std::span<const std::string> saved,
                          const TerminationBudget& budget) {
  const RuleSet* const sets[] = {&set};
  return check_termination(sets, context, saved, budget);
}

}  // namespace assay::props
