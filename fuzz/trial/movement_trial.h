#pragma once

#include <optional>

#include "engine/uop/rewrite.h"
#include "fuzz/trial/trial.h"
#include "oracles/choices.h"
#include "props/property.h"

namespace assay::fuzz {

// Random movement of a parameter, with sizes that are mostly variables: what the rules of shapes
// are about, which no pass of a compilation applies.
uop::Ref make_movement(uop::Graph& g, oracles::Choices& choices);

// Applies each rule of movement alone, and has each firing proved for all sizes: what is wrong, if
// anything. What is undecided is counted by cause. `watch` looks on.
std::optional<Finding> try_movement(uop::Graph& g, uop::Ref moved, props::Context context,
                                    std::map<std::string, int64_t, std::less<>>& unknown,
                                    const uop::Switches& switches = {},
                                    uop::Watch* watch = nullptr);

}  // namespace assay::fuzz
