#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "fuzz/blame/bisect.h"
#include "fuzz/blame/triage.h"
#include "fuzz/trial/case.h"
#include "fuzz/trial/trial.h"

namespace assay::fuzz {

// What is behind a finding: the smallest case that fails for the same reason, and whom to blame.
struct Investigated {
  Case smallest;
  Finding finding;  // of the smallest case
  Blame blame;
  int64_t trials = 0;
  bool is_done = false;  // nothing that is tried makes it smaller; else trials ran out
};

// How far it goes; counted, so that each machine comes to the same end.
struct InvestigateOptions {
  int64_t trials = 1500;        // cases that are tried while shrinking
  int64_t careful_trials = 80;  // each with its blame
  std::set<std::string> known =
      {};  // causes (triage.h) of which no more is asked than whether they are it
  uop::Switches switches = {};
  uop::Watch* watch = nullptr;  // with which it failed: a fault
};

// Shrinks and bisects. Judge, stage and shape of the witness stay, and so does the cause: where the
// smallest case has another one than the case as it was found, each step is held to the cause.
Investigated investigate(const Case& failing, const Finding& finding, Trial& trial,
                         const InvestigateOptions& options = {});

// The cause alone.
Blame blame_of(const Case& failing, const Finding& finding, const Trial& trial,
               const InvestigateOptions& options = {});

}  // namespace assay::fuzz
