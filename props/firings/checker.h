#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/uop/watch.h"
#include "props/firings/scalar.h"

namespace assay::props {

// Judges firings of rules: whether what came has the meaning of what was. Firings that are equal up
// to names and numbers are judged once.
//
//   scalar terms   refinement of one by the other, ranges, variables and what is read being free
//                  (pair.h, scalar.h): proved, where a method can
//   movement       where each element comes from, for all sizes (movement.h): proved
//   tensors        both evaluated by the interpreter (tensor_run.h): sampled
//   kernels        both run, on the work-group machine as well (kernel_run.h): sampled
class FiringChecker {
 public:
  explicit FiringChecker(Context& context) : context_(context) {
    if (context_.firings == nullptr) context_.firings = &own_;
  }
  FiringChecker(const FiringChecker&) = delete;
  FiringChecker& operator=(const FiringChecker&) = delete;

  const Outcome& judge(uop::Graph& g, uop::Ref before, uop::Ref after);
  // The same, counted in `checked` where the firing is a new one.
  void check(const uop::RuleSeen& seen, Checked& checked);

  int64_t asked() const { return asked_; }
  int64_t judged() const { return judged_; }

 private:
  std::optional<Outcome> judge_terms(uop::Graph& g, uop::Ref before, uop::Ref after);
  Outcome judge_nodes(uop::Graph& g, uop::Ref before, uop::Ref after);

  FiringMemo own_;  // where the context has none
  Context context_;
  FiringMemo exact_;  // by the structure of both sides as they stand
  int64_t asked_ = 0;
  int64_t judged_ = 0;
};

// A firing by itself; what the context remembers of others counts.
Checked rule_firing_keeps_meaning(const uop::RuleSeen& seen, Context& context);

// Judges each firing of a compilation that is unlike those before.
class FiringWatch : public uop::Watch {
 public:
  explicit FiringWatch(Context& context) : checker_(context) {}

  using uop::Watch::seen;
  void seen(const uop::RuleSeen& seen) override;

  // Of all firings so far: an obligation each that is unlike the others.
  const Checked& checked() const { return checked_; }
  const FiringChecker& checker() const { return checker_; }
  // How often each rule fired, by full name.
  const std::map<std::string, int64_t>& firings() const { return firings_; }

 private:
  FiringChecker checker_;
  Checked checked_;
  std::map<std::string, int64_t> firings_;
};

}  // namespace assay::props
