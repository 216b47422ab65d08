#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/campaign/ahead.h"
#include "fuzz/campaign/case_source.h"
#include "fuzz/trial/trial.h"
#include "fuzz/trial/trial_child.h"

namespace assay::fuzz {

// "pass", "fail", "unknown" or "malformed".
std::string answer_of(const Outcome& outcome);
// Whether the finding is among those of an outcome.
bool has_same(const Outcome& outcome, const Finding& finding);

// The child processes of a campaign: who needs one takes it, and gives it back for others.
class Children {
 public:
  // `command` serves trials (serve.h); what a child says on the side goes to `folder`.
  Children(std::vector<std::string> command, std::string folder, int64_t limit_ms)
      : command_(std::move(command)), folder_(std::move(folder)), limit_ms_(limit_ms) {}

  std::unique_ptr<TrialChild> take();
  void give(std::unique_ptr<TrialChild> child);
  // Ends those that rest.
  void end() { resting_.clear(); }

 private:
  std::vector<std::string> command_;
  std::string folder_;
  int64_t limit_ms_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TrialChild>> resting_;
  int begun_ = 0;
};

// Makes cases and has them tried, in a thread of its own, by a child of its own.
class CampaignWorker {
 public:
  // There are no cases from `end` on, and none is begun where `is_over`. What became of cases is
  // put `ahead`, and what is there already is not tried again.
  CampaignWorker(const CaseSource& source, Children& children, Ahead& ahead, int64_t end,
                 std::function<bool()> is_over)
      : source_(source),
        children_(children),
        ahead_(ahead),
        end_(end),
        is_over_(std::move(is_over)),
        child_(children.take()) {}
  CampaignWorker(CampaignWorker&&) = default;
  ~CampaignWorker() {
    // The child outlives the worker.
    if (child_ != nullptr) children_.give(std::move(child_));
  }

  Tried operator()(int64_t number);

 private:
  struct Made {
    SourcedCase c;
    std::optional<Tried> before;
    int64_t generate_ns = 0;
    int64_t build_ns = 0;  // its part of what a driver took for the kernels of several
  };

  void make_until(int64_t end, int64_t first);
  Tried try_case(Made& made);
  void repeat(Tried& tried);

  const CaseSource& source_;
  Children& children_;
  Ahead& ahead_;
  int64_t end_;
  std::function<bool()> is_over_;
  std::unique_ptr<TrialChild> child_;
  int64_t first_ = 0;           // number of together_
  std::vector<Made> together_;  // up to CaseSource::until
};

}  // namespace assay::fuzz
