#pragma once

#include <string>
#include <vector>

#include "fuzz/fault/fault.h"
#include "oracles/smt/prover.h"

namespace assay::fuzz {

// A fault for each mutant of each rule that is a pattern (mutants_of), of the class of what its set
// is about: "div_mod.mod_below without (0 <= lo(x))". Some are as true as the rule.
std::vector<Fault> rule_faults();
// All faults: those of stages, and these.
std::vector<Fault> every_fault();
// Whether it is one of these.
bool is_of_table(const Fault& fault);
// Whether some instance of the rule, at some type, changes a value: what is as true as the rule is
// no fault.
bool is_refutable(const Fault& fault);
// What samples and the prover say: that an instance changes a value, or that none does at any type
// of at most 8 bits and at index. Both are false where neither is known.
struct RuleAnswer {
  bool is_true = false;
  bool is_refuted = false;
  std::string evidence;
};
RuleAnswer proof_of(const Fault& fault, smt::Prover& prover);

}  // namespace assay::fuzz
