#include "engine/schedule/rules.h"

#include <vector>

#include "engine/schedule/prepare_rules.h"
#include "engine/uop/rules/rules.h"

namespace assay::schedule {

std::span<const uop::RuleSet* const> all_rules() {
  static const std::vector<const uop::RuleSet*> sets = [] {
    const auto symbolic = uop::all_rules();
    std::vector<const uop::RuleSet*> all(symbolic.begin(), symbolic.end());
    all.insert(all.end(), {&store_rules(), &prepare_rules()});
    return all;
  }();
  return sets;
}

}  // namespace assay::schedule
