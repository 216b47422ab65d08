#include "fuzz/blame/investigate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/codegen/opt.h"
#include "engine/codegen/seen.h"
#include "fuzz/blame/bisect_graph.h"
#include "fuzz/shrink/shrink.h"
#include "fuzz/shrink/shrink_graph.h"

namespace assay::fuzz {
namespace {

// The lists that kernels are made with, in the order in which they are lowered.
class ListsMade : public uop::Watch {
 public:
  using Watch::seen;
  void seen(const codegen::KernelSeen& seen) override {
    const auto opts = codegen::kernel_name(seen.linear).opts;
    std::string list = !opts || opts->empty() || *opts == "NONE" ? "none" : std::string(*opts);
    if (std::ranges::find(lists, list) == lists.end()) lists.push_back(std::move(list));
  }
  std::vector<std::string> lists;
};

class Investigation {
 public:
  Investigation(const Case& failing, const Finding& finding, Trial& trial,
                const InvestigateOptions& options)
      : failing_(failing), wanted_(finding), trial_(trial), options_(options) {}

  Investigated run() {
    const Blame first = fuzz::blame_of(failing_, wanted_, trial_, options_);
    const Cause cause = cause_of(wanted_, first);
    if (options_.known.contains(to_text(cause))) return {failing_, wanted_, first, 0, true};
    Investigated found =
        shrunk([&](const Case& c) { return same_in(c).has_value(); }, options_.trials);
    if (cause_of(found.finding, found.blame) == cause) return found;
    const auto is_of_cause = [&](const Case& c) {
      const std::optional<Finding> same = same_in(c);
      return same && cause_of(*same, fuzz::blame_of(c, *same, trial_, options_)) == cause;
    };
    const int64_t before = found.trials;
    found = shrunk(is_of_cause, options_.careful_trials);
    found.trials += before;
    return found;
  }

 private:
  // The finding of a case that is the same as the one wanted.
  std::optional<Finding> same_in(const Case& c) {
    Outcome o = trial_.run(c, options_.switches, options_.watch);
    const auto same =
        std::ranges::find_if(o.findings, [&](const Finding& f) { return is_same(f, wanted_); });
    if (same == o.findings.end()) return std::nullopt;
    return std::move(*same);
  }

  std::vector<std::string> lists_of(const Case& c) {
    ListsMade seen;
    Watches watches({&seen, options_.watch});
    trial_.run(c, options_.switches, &watches);
    return seen.lists;
  }

  Investigated shrunk(const std::function<bool(const Case&)>& still_fails, int64_t trials) {
    ShrinkOptions steps;
    steps.trials = trials;
    steps.lists = [&](const Case& c) { return lists_of(c); };
    const Shrunk s = failing_.is_program() ? shrink(failing_, still_fails, steps)
                                           : shrink_graph(failing_, still_fails, steps);
    Investigated found = {s.smallest, wanted_, {}, s.trials, s.is_done};
    if (std::optional<Finding> same = same_in(found.smallest)) found.finding = std::move(*same);
    found.blame = fuzz::blame_of(found.smallest, found.finding, trial_, options_);
    return found;
  }

  const Case& failing_;
  const Finding& wanted_;
  Trial& trial_;
  const InvestigateOptions& options_;
};

}  // namespace

Blame blame_of(const Case& failing, const Finding& finding, const Trial& trial,
               const InvestigateOptions& options) {
  const auto kinds = trial.options().kinds;
  if (failing.is_program()) {
    return bisect(failing, finding, kinds, options.switches, options.watch);
  }
  return bisect_graph(failing, finding, kinds, options.switches, options.watch);
}

Investigated investigate(const Case& failing, const Finding& finding, Trial& trial,
                         const InvestigateOptions& options) {
  return Investigation(failing, finding, trial, options).run();
}

}  // namespace assay::fuzz
