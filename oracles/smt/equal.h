#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/uop/uop.h"
#include "oracles/smt/prover.h"
#include "oracles/verdict.h"

namespace assay::smt {

// What became of the question whether one scalar term may stand in the place of another.
struct Refines {
  oracles::Verdict verdict;
  std::string method;  // "z3", "enumeration", …; of an unknown verdict its cause
};

// Whether `after` refines `before` for all values of their VARIABLE, RANGE, SPECIAL and LOAD leaves
// (within the bounds that those state) for which each of `when` holds: where `before` has a value
// `after` has the same one (all NaNs are one, zeros are two), where it is Invalid so is `after`,
// where it is unspecified anything goes. A failure names the values, and both terms have been
// evaluated there. `kind` is what the prover's statistics count it as.
Refines refines(uop::Graph& g, uop::Ref before, uop::Ref after, std::span<const uop::Ref> when,
                Prover& prover, std::string_view kind);

}  // namespace assay::smt
