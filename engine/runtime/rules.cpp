#include "engine/runtime/rules.h"

#include <vector>

#include "engine/codegen/barriers.h"
#include "engine/codegen/decompose.h"
#include "engine/schedule/rules.h"

namespace assay::runtime {

std::span<const uop::RuleSet* const> all_rules() {
  static const std::vector<const uop::RuleSet*> sets = [] {
    const auto before = schedule::all_rules();
    std::vector<const uop::RuleSet*> all(before.begin(), before.end());
    const auto decompose = codegen::decompose_rules();
    all.insert(all.end(), decompose.begin(), decompose.end());
    all.push_back(&codegen::implicit_barriers());
    return all;
  }();
  return sets;
}

}  // namespace assay::runtime
