#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/uop/rule.h"
#include "props/property.h"

namespace assay::props {

// How many graphs a set of rules is run on.
struct TerminationBudget {
  int terms = 3000;   // random ones
  int graphs = 100;   // of movement, of tensors and (a quarter) of kernels, as rules look at those
  int instances = 8;  // of each pattern rule's match, at each type
};

// Rule sets that the engine applies together, each named for who does: the sets of every pass, and
// of what rewrites within one.
struct Applied {
  std::string name;
  std::vector<const uop::RuleSet*> sets;
};
std::vector<Applied> applied_together();

// Whether rules come to an end. The sets are run together on saved graphs (.uop texts), on random
// graphs and on instances of each pattern rule's match: a graph that they came back to, or on which
// they fired too often, fails. A pattern rule that lowers a measure (measure.h) is proved by
// itself. Listed: pattern rules that lower none, and pairs of rules of which one may undo the
// other, though no run of all of them showed a circle.
Checked check_termination(std::span<const uop::RuleSet* const> sets, Context& context,
                          std::span<const std::string> saved = {},
                          const TerminationBudget& budget = {});
Checked check_termination(const uop::RuleSet& set, Context& context,
                          std::span<const std::string> saved = {},
                          const TerminationBudget& budget = {});

}  // namespace assay::props
