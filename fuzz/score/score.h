#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/blame/bisect.h"
#include "fuzz/fault/fault.h"
#include "fuzz/trial/case.h"
#include "fuzz/trial/trial.h"

// The harness judged: whether the loop finds what is planted, how soon, and whom it blames.
namespace assay::fuzz {

struct ScoreOptions {
  std::span<const runtime::DeviceKind* const> kinds = {};
  std::vector<const props::Property*> properties = {};
  std::vector<Case> corpus = {};  // tried in turn with random ones
  int64_t cases = 40'000;         // tried of each fault at most
  double seconds = 20;            // as well, of each fault
  uint64_t seed = 1;              // of random cases
};

struct Scored {
  std::string name;
  FaultClass of = FaultClass::Order;
  bool is_found = false;
  bool is_by_proof = false;  // by the prover of rules alone: no case showed it
  std::string no_fault;      // why it is none: a mutant that is as true as its rule
  int64_t tried = 0;         // cases, the one that shows it included
  int64_t live = 0;          // of them, where the fault changed something
  int64_t unknown = 0;       // of them, where something could not be judged
  double seconds = 0;
  double blame_seconds = 0;
  std::string witness;              // the case, as text; "" where it is a term
  std::vector<Finding> findings;    // of the witness, in the order of Outcome
  std::vector<std::string> judges;  // who found something wrong with the witness, by name
  Blame blame;
  bool is_blamed_right = false;
  std::string refused;  // why a case that the fault does not touch fails too, if one did
  std::string why;      // it was not found
};

// Told before each case, and when it is found: before anyone is blamed, and after.
using ScoreProgress = std::function<void(const Scored& so_far)>;

// Plants the fault and tries cases, those before number `first` left out, until a judge finds
// something. A case that fails without the fault too counts for nothing. Who finds nothing in a
// while looks whether a mutant of a rule is a fault at all.
Scored score(const Fault& fault, const ScoreOptions& options, int64_t first = 0,
             const ScoreProgress& progress = {});

// Tries one of these cases, with the fault or with none: for the one who looks on, since what comes
// of it is known or is a crash.
void try_again(const Fault& fault, const ScoreOptions& options, int64_t number, bool is_planted,
               uop::Watch& watch);

// The case of that number.
Case case_of(const Fault& fault, const ScoreOptions& options, int64_t number);

// Whether blame names what a fault is planted in: the stage, the pass or the rule.
bool names(const Blame& blame, const Fault& fault);

// What is known of why a fault was not found, in words.
std::string reason(const Scored& s, const Fault& fault);

}  // namespace assay::fuzz
