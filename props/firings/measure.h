#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/uop/rule.h"

namespace assay::props {

// A weight for each operation and leaf of a term, added up over the term as a tree. Weights are not
// negative, so what stands around a term keeps the order of two terms, and none goes down for ever.
struct Measure {
  std::string_view name;
  int (*weight)(uop::Op op);  // of an operation, and of Const
  int least;                  // of any term that may stand for a hole
};

// In the order in which they are compared: a rule that lowers one of them and raises none of those
// before it cannot be applied for ever, and neither can a set of such rules.
std::span<const Measure> all_measures();

// The first measure that the rule lowers for all terms that may stand for its holes, where it
// raises none before it; nothing where there is none. Not of a `by` rule.
std::optional<std::string_view> lowered_measure(const uop::Rule& rule);

}  // namespace assay::props
