#pragma once

#include <span>
#include <string_view>

#include "engine/uop/rule.h"

namespace assay::uop {

// The sets of symbolic rules; what each is about stands in its file.
const RuleSet& fold_rules();
const RuleSet& invalid_rules();
const RuleSet& identity_rules();
const RuleSet& boolean_rules();
const RuleSet& compare_rules();
const RuleSet& select_rules();
const RuleSet& min_max_rules();
const RuleSet& cast_rules();
const RuleSet& combine_rules();
const RuleSet& div_mod_rules();
const RuleSet& validity_rules();
const RuleSet& movement_rules();
const RuleSet& factor_rules();

// Those that simplify values, in the order in which they are tried: true of any graph.
std::span<const RuleSet* const> symbolic_rules();
// Every rule set there is.
std::span<const RuleSet* const> all_rules();

// The set of this name, or null.
const RuleSet* find_rules(std::string_view name);

}  // namespace assay::uop
