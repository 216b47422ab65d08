#pragma once

#include <optional>

#include "oracles/smt/formula.h"

namespace assay::smt {

// A formula that has values wherever `f` has, in which integers are multiplied and divided by
// numbers alone: each product of others, and each quotient and remainder by one, is a number of its
// own, the same wherever it stands and however its factors are grouped. So if nothing satisfies it,
// nothing satisfies f. Nothing if f is like that already.
std::optional<Formula> linearized(const Formula& f);

}  // namespace assay::smt
