#pragma once

#include <vector>

#include "fuzz/fault/fault.h"

namespace assay::fuzz {

// A fault for each mutant of each rule that is a pattern (mutants_of), of the class of what its set
// is about: "div_mod.mod_below without (0 <= lo(x))". Some are as true as the rule.
std::vector<Fault> rule_faults();
// Whether it is one of these.
bool is_of_table(const Fault& fault);
// Whether some instance of the rule, at some type, changes a value: what is as true as the rule is
// no fault.
bool is_refutable(const Fault& fault);

}  // namespace assay::fuzz
