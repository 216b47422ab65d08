#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuzz/bisect.h"
#include "fuzz/case.h"
#include "fuzz/fault/fault.h"
#include "fuzz/trial.h"

// The harness judged: whether the loop finds what is planted, how soon, and whom it blames.
namespace assay::fuzz {

struct ScoreOptions {
  std::span<const runtime::DeviceKind* const> kinds = {};
  std::vector<const props::Property*> properties = {};
  std::vector<Case> corpus = {};  // tried first, in turn
  int64_t cases = 4000;           // tried of each fault at most
  double seconds = 20;            // as well, of each fault
  uint64_t seed = 1;              // of random cases
  bool blames = true;
};

struct Scored {
  std::string name;
  FaultClass of = FaultClass::Order;
  bool is_found = false;
  int64_t tried = 0;    // cases, the one that shows it included
  int64_t live = 0;     // of them, where the fault changed something
  int64_t unknown = 0;  // of them, where something could not be judged
  double seconds = 0;
  double blame_seconds = 0;
  Case witness;
  std::vector<Finding> findings;    // of the witness, in the order of Outcome
  std::vector<std::string> judges;  // who found something wrong with the witness, by name
  Blame blame;
  bool is_blamed_right = false;
  std::string refused;  // why a case that the fault does not touch fails too, if one did
};

// Plants the fault and tries cases until a judge finds something: the corpus, then random ones. A
// case that fails without the fault too counts for nothing.
Scored score(const Fault& fault, const ScoreOptions& options);

// Whether blame names what a fault is planted in: the stage, the pass or the rule.
bool names(const Blame& blame, const Fault& fault);

// Faults by class, and in how many of each class which judge found what was planted.
std::string matrix_text(std::span<const Scored> scored);

}  // namespace assay::fuzz
