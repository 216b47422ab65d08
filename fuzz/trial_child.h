#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/runtime/child.h"
#include "fuzz/trial.h"

namespace assay::fuzz {

// Serves trials on standard input and output, a line of JSON each way, until the input ends:
//
//   {"case": TEXT}   the case is tried; its outcome comes back
//
// What is no request ends it. Standard output belongs to the protocol.
int serve_trials(Trial& trial);

// Trials in a process of their own: a case on which it crashes or hangs has that for a finding, and
// costs the process.
class TrialChild {
 public:
  // `command` starts a process that serves trials, and has what it says on standard error written
  // to `log`.
  TrialChild(std::vector<std::string> command, std::string log, int64_t limit_ms);

  // The outcome, whatever becomes of the process.
  Outcome run(const Case& c);
  // Ends the process now: of what is under way nothing comes back.
  void stop();

 private:
  Outcome lost(std::string_view shape, std::string evidence);

  std::vector<std::string> command_;
  std::string log_;
  int64_t limit_ms_;
  runtime::Child child_;
  bool is_running_ = false;
};

}  // namespace assay::fuzz
