#pragma once

#include <string_view>
#include <vector>

#include "fuzz/mutate/generate.h"
#include "fuzz/trial/case.h"
#include "oracles/choices.h"

// Cases that are graphs, straight into code generation or into the rules.
namespace assay::fuzz {

// Scalar terms (term_trial.h) and movement (movement_trial.h), several of them since one is soon
// judged.
Case make_terms(oracles::Choices& choices);
// A kernel of the form that the schedule leaves, and mostly a legal list of opts that a seed draws.
// Profiles as `options` say.
Case make_kernel(oracles::Choices& choices, const CaseOptions& options = {});

// Whether a kernel has f64, which no profile has.
bool is_wide(const Case& c);
bool is_terms(const Case& c);
// The texts of the graphs that a case holds.
std::vector<std::string_view> graphs_of(const Case& c);

}  // namespace assay::fuzz
