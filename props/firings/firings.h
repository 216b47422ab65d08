#pragma once

#include <span>
#include <string>

#include "engine/uop/rule.h"
#include "props/firings/checker.h"

namespace assay::props {

// How many firings of a rule are made and judged.
struct FiringBudget {
  int firings = 12;     // that differ, at each type, or in each kind of graph
  int attempts = 4000;  // graphs that are made at most for them
};

// Makes a rule fire, and judges each firing: on random terms of the operations that it looks at, at
// each type of its `over`; on random movement, tensors and kernels (stock.h) where it looks at
// those; and on saved graphs (.uop texts, corpus/rules among them). Rules that fire on the way are
// judged with it. A rule that never fires is unknown.
Checked check_firings(const uop::RuleSet& set, const uop::Rule& rule, Context& context,
                      std::span<const std::string> saved = {}, const FiringBudget& budget = {});

}  // namespace assay::props
