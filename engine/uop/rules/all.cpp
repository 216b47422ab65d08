#include <vector>

#include "engine/uop/rules/rules.h"

namespace assay::uop {

std::span<const RuleSet* const> symbolic_rules() {
  static const std::vector<const RuleSet*> sets = {
      &fold_rules(),    &invalid_rules(), &identity_rules(), &boolean_rules(),
      &compare_rules(), &select_rules(),  &min_max_rules(),  &cast_rules(),
      &combine_rules(), &div_mod_rules(), &movement_rules(),
  };
  return sets;
}

std::span<const RuleSet* const> all_rules() {
  static const std::vector<const RuleSet*> sets = [] {
    std::vector<const RuleSet*> all(symbolic_rules().begin(), symbolic_rules().end());
    all.push_back(&validity_rules());
    all.push_back(&factor_rules());
    return all;
  }();
  return sets;
}

const RuleSet* find_rules(std::string_view name) {
  for (const RuleSet* set : all_rules()) {
    if (set->name() == name) return set;
  }
  return nullptr;
}

}  // namespace assay::uop
