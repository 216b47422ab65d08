#pragma once

#include <span>

#include "engine/uop/rule.h"

namespace assay::schedule {

// Every rule set of the engine up to here: those of uop/rules, then those of the scheduler.
std::span<const uop::RuleSet* const> all_rules();

}  // namespace assay::schedule
