#include "fuzz/trial/movement_trial.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "engine/uop/rule.h"
#include "engine/uop/rules/rules.h"
#include "props/firings/checker.h"
#include "props/firings/stock.h"

namespace assay::fuzz {
namespace {

// What one rule of movement is about, so that each has its turn.
uop::OpSet ops_of_one(oracles::Choices& choices) {
  const auto rules = uop::movement_rules().rules();
  const uop::Rule& rule = rules[choices.below(rules.size())];
  return rule.needs == uop::OpSet::all() ? rule.roots : rule.roots | rule.needs;
}

// Sets of one rule each, for good: who looks on may remember a rule by where it is.
const std::vector<std::unique_ptr<uop::RuleSet>>& movement_rules_alone() {
  static const std::vector<std::unique_ptr<uop::RuleSet>> sets = [] {
    std::vector<std::unique_ptr<uop::RuleSet>> all;
    for (const uop::Rule& rule : uop::movement_rules().rules()) {
      all.push_back(
          std::make_unique<uop::RuleSet>(uop::movement_rules().name(), std::vector{rule}));
    }
    return all;
  }();
  return sets;
}

// Judges firings, and keeps the first that is wrong.
class MovementJudge : public uop::Watch {
 public:
  explicit MovementJudge(props::Context& context) : checker_(context) {}

  using Watch::seen;
  void seen(const uop::RuleSeen& seen) override {
    checker_.check(seen, checked_);
    if (wrong_.empty() && checked_.verdict.answer == props::Answer::Fail) {
      wrong_ = full_name(seen.set, seen.rule);
    }
  }
  // The rule; "" where none fired wrongly.
  const std::string& wrong() const { return wrong_; }
  const props::Checked& checked() const { return checked_; }

 private:
  props::FiringChecker checker_;
  props::Checked checked_;
  std::string wrong_;
};

}  // namespace

uop::Ref make_movement(uop::Graph& g, oracles::Choices& choices) {
  return props::moved_stock(g, choices, ops_of_one(choices));
}

std::optional<Finding> try_movement(uop::Graph& g, uop::Ref moved, props::Context context,
                                    std::map<std::string, int64_t, std::less<>>& unknown,
                                    const uop::Switches& switches, uop::Watch* watch) {
  MovementJudge judge(context);
  Watches watches({&judge, watch});
  uop::Run run(g, switches, &watches);
  for (const std::unique_ptr<uop::RuleSet>& alone : movement_rules_alone()) {
    const uop::RuleSet* const set = alone.get();
    (void)run.rewrite({&set, 1}, moved);
  }
  for (const auto& [cause, n] : judge.checked().by_cause) {
    unknown[fmt::format("movement: {}", cause)] += n;
  }
  if (judge.wrong().empty()) return std::nullopt;
  return Finding{"firings", judge.wrong(), "value", judge.checked().verdict.evidence};
}

}  // namespace assay::fuzz
