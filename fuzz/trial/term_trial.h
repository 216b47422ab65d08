#pragma once

#include <optional>

#include "engine/uop/rewrite.h"
#include "fuzz/trial/trial.h"
#include "oracles/choices.h"

namespace assay::fuzz {

using oracles::Choices;

// A random scalar term: mostly what some rule is about (its match over random terms), within a term
// around it; else any term. Most rules of scalars speak of index terms, which programs have few
// shapes of.
uop::Ref make_term(uop::Graph& g, Choices& choices);

// Simplifies a term, applies to it each rule of scalars alone that looks at its root (which others
// may come before), and judges every firing by evaluation: what is wrong, if anything. Its leaves
// are variables and constants. `watch` looks on.
std::optional<Finding> try_term(uop::Graph& g, uop::Ref term, const uop::Switches& switches = {},
                                uop::Watch* watch = nullptr);

}  // namespace assay::fuzz
