#pragma once

#include <span>

#include "engine/uop/rule.h"

namespace assay::runtime {

// Every rule set of the engine: those up to the scheduler, then those of code generation.
std::span<const uop::RuleSet* const> all_rules();

}  // namespace assay::runtime
