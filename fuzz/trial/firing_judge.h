#pragma once

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "engine/uop/refines.h"
#include "engine/uop/rule.h"
#include "engine/uop/watch.h"

namespace assay::fuzz {

// Judges every firing of a run over scalar terms by evaluation.
class FiringJudge : public uop::Watch {
 public:
  void seen(const uop::RuleSeen& seen) override {
    firings_++;
    in_step_ = in_step_ && seen.firing == firings_;
    if (counterexample_ || !judged_.insert({seen.before, seen.after}).second) return;
    const uop::Judged judged = uop::judge(seen.graph, seen.before, seen.after, random_, 32);
    if (!judged.counterexample) return;
    counterexample_ =
        fmt::format("{} fired wrongly: {}", full_name(seen.set, seen.rule), *judged.counterexample);
  }

  const std::optional<std::string>& counterexample() const { return counterexample_; }
  uint64_t firings() const { return firings_; }
  // Whether the firings were counted from 1, without a gap.
  bool is_in_step() const { return in_step_; }

 private:
  uop::Random random_{1};
  std::set<std::pair<uop::Ref, uop::Ref>> judged_;  // only searched
  std::optional<std::string> counterexample_;
  uint64_t firings_ = 0;
  bool in_step_ = true;
};

}  // namespace assay::fuzz
