#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/blame/investigate.h"
#include "fuzz/trial/line_process.h"
#include "fuzz/trial/trial.h"

namespace assay::fuzz {

// Trials in a process of their own (fuzz/campaign/serve.h): a case on which it crashes or hangs has
// that for a finding, and costs the process.
class TrialChild {
 public:
  // `command` starts a process that serves trials, and has what it says on standard error written
  // to `log` (line_process.h).
  TrialChild(std::vector<std::string> command, std::string log, int64_t limit_ms);

  // The outcome, whatever becomes of the process. One that is tried `again` has no features.
  Outcome run(const Case& c, bool again = false);
  // Has drivers compile the kernels of cases that are about to be run (Trial::foresee). Where the
  // process is lost over it, the cases are as they would have been.
  void foresee(std::span<const Case* const> cases);
  // What is behind a finding (fuzz/blame/investigate.h); nothing where the process is lost over it.
  std::optional<Investigated> investigate(const Case& c, const Finding& finding,
                                          const std::vector<std::string>& known = {});

 private:
  Outcome lost(std::string_view shape, std::string evidence);
  void make_room(int64_t served);

  LineProcess process_;
  int64_t limit_ms_;
  int64_t served_ = 0;    // by this process, in cases on simulated devices
  int64_t foreseen_ = 0;  // of those that it will be given next, in the same
};

// Whether the finding is that the process was lost, or took too long.
bool is_of_process(const Finding& finding);

}  // namespace assay::fuzz
