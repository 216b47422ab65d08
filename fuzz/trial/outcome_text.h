#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"
#include "fuzz/blame/investigate.h"
#include "fuzz/trial/trial.h"

namespace assay::fuzz {

// An outcome as one line of JSON, without its end, and back.
std::string to_text(const Outcome& outcome);
Result<Outcome> outcome_from_text(std::string_view line);

// The same of a finding.
std::string to_text(const Finding& finding);
Result<Finding> finding_from_text(std::string_view line);

// The same of what is behind a finding.
std::string to_text(const Blame& blame);
Result<Blame> blame_from_text(std::string_view line);
std::string to_text(const Investigated& found);
Result<Investigated> investigated_from_text(std::string_view line);

}  // namespace assay::fuzz
