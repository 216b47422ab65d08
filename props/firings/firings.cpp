#include "props/firings/firings.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/schedule/prepare_rules.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
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

// Operations that stand in tensor graphs, and in kernels before their barriers.
constexpr OpSet kOfTensors = {Op::Reduce, Op::Copy,  Op::Contiguous, Op::Stage,   Op::Stack,
                              Op::Store,  Op::After, Op::Bitcast,    Op::Reshape, Op::Pad};
constexpr OpSet kOfGatedKernels = {Op::After, Op::End, Op::Load, Op::Store, Op::Index, Op::Barrier};

class RuleFirer {
 public:
  RuleFirer(const RuleSet& set, const Rule& rule, Context& context, const FiringBudget& budget)
      : set_(set), rule_(rule), context_(context), budget_(budget), watch_(*this) {}

  Checked run(std::span<const std::string> saved) {
    for (const std::string& text : saved) {
      Graph g;
      const auto parsed = uop::from_text(g, text);
      if (parsed.ok()) rewrite(g, parsed.value().root);
    }
    for (int i = 0; i < uop::kDTypeCount; i++) {
      if (rule_.over.has(DType(i))) fire_on_terms(DType(i));
    }
    OpSet moves;
    for (int i = 0; i < uop::kOpCount; i++) {
      const bool is_needed = rule_.needs != OpSet::all() && rule_.needs.has(Op(i));
      if (uop::is_movement(Op(i)) && (is_needed || rule_.roots.has(Op(i)))) moves.insert(Op(i));
    }
    if (!moves.empty()) {
      make([&](Graph& g, Choices& c) { return Result<Ref>(moved_stock(g, c, moves)); }, 1);
    }
    if (rule_.roots.meets(kOfTensors)) {
      const bool is_prepared = set_.name() != schedule::store_rules().name();
      make([&](Graph& g, Choices& c) { return tensor_stock(g, c, is_prepared); }, 1);
    }
    if (rule_.roots.meets(kOfGatedKernels)) make(kernel_stock, 20);
    if (fired_ == 0) checked_.add_unknown("never fired", uop::full_name(set_, rule_));
    return std::move(checked_);
  }

 private:
  // Judges the rule's own firings and those that it brings about.
  class Watch : public uop::Watch {
   public:
    explicit Watch(RuleFirer& firer) : firer_(firer) {}
    using uop::Watch::seen;
    void seen(const uop::RuleSeen& seen) override {
      const bool is_own = &seen.set == &firer_.set_;
      if (is_own && &seen.rule == &firer_.rule_) firer_.saw(seen);
      if (!is_own) firer_.checker_.check(seen, firer_.checked_);
    }

   private:
    RuleFirer& firer_;
  };

  void saw(const uop::RuleSeen& seen) {
    fired_++;
    checker_.check(seen, checked_);
  }

  void rewrite(Graph& g, Ref root) {
    const RuleSet* sets[] = {&set_};
    uop::Run run(g, {}, &watch_, context_.target);
    // Rules that run in circles are for check_termination().
    (void)run.rewrite(sets, root,
                      {.order = uop::Order::BottomUp, .extent = uop::Extent::Everything});
  }

  // Graphs until the rule has fired often enough; one in `cost` of the attempts.
  template <typename Make>
  void make(Make stock, int cost) {
    const int64_t until = checker_.judged() + budget_.firings;
    const int64_t fired = fired_ + budget_.firings;
    for (int i = 0; i < budget_.attempts / cost; i++) {
      if (checker_.judged() >= until && fired_ >= fired) return;
      Graph g;
      Choices choices(context_.seed * 1'000'003 + static_cast<uint64_t>(i));
      const Result<Ref> root = stock(g, choices);
      if (root.ok()) rewrite(g, root.value());
    }
  }

  void fire_on_terms(DType t) {
    std::vector<Op> roots;
    for (int i = 0; i < uop::kOpCount; i++) {
      const Op op = static_cast<Op>(i);
      const bool is_term = uop::is_scalar(op) || op == Op::Variable;
      if (is_term && rule_.roots.has(op) && uop::info(op).over.has(t)) roots.push_back(op);
    }
    if (roots.empty()) return;
    const int64_t until = fired_ + budget_.firings;
    for (int i = 0; i < budget_.attempts && fired_ < until; i++) {
      Graph g;
      Choices choices(context_.seed * 1'000'003 + static_cast<uint64_t>(i));
      TermMaker maker(g, choices);
      const Op root = choices.pick(std::span<const Op>(roots));
      const Ref before = maker.rooted(root, t, static_cast<int>(choices.below(8)));
      if (before->op != root || uop::judged_type(before) != t) continue;
      uop::Run run(g, {}, &watch_, context_.target);
      const Ref after = rule_.by(run, before);
      if (after != nullptr && after != before) saw({g, set_, rule_, before, after, 0});
    }
  }

  const RuleSet& set_;
  const Rule& rule_;
  Context& context_;
  FiringBudget budget_;
  FiringChecker checker_{context_};
  Checked checked_;
  Watch watch_;
  int64_t fired_ = 0;
};

}  // namespace

Checked check_firings(const RuleSet& set, const Rule& rule, Context& context,
                      std::span<const std::string> saved, const FiringBudget& budget) {
  return RuleFirer(set, rule, context, budget).run(saved);
}

}  // namespace assay::props
