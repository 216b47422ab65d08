#pragma once

#include <string>
#include <vector>

#include "engine/uop/rule.h"

namespace assay::props {

// A rule with one fault planted in it. Some are as true as the rule: that is for the prover to say.
struct Mutant {
  std::string name;  // "without (< 0 #c)"
  uop::Rule rule;
  // A condition was left out: if the rule is as true without, the condition is redundant.
  bool drops_guard = false;
};

// Of a rule without `by`: each condition of its guard dropped, each number of its replacement and
// guard one more and one less, each two operands of what does not commute swapped, each comparison
// widened to hold of equals too. Those that are written like the rule itself are left out.
std::vector<Mutant> mutants_of(const uop::Rule& rule);

}  // namespace assay::props
