#include "engine/uop/simplify.h"

#include <vector>

#include "engine/uop/rules/rules.h"

namespace assay::uop {

Result<Ref> simplify(Run& run, Ref root) {
  static const std::vector<const RuleSet*> values = [] {
    std::vector<const RuleSet*> sets(symbolic_rules().begin(), symbolic_rules().end());
    sets.push_back(&validity_rules());
    return sets;
  }();
  static const std::vector<const RuleSet*> factors = {&factor_rules()};
  ASSAY_TRY(simple, run.rewrite(values, root));
  return run.rewrite(factors, simple);
}

}  // namespace assay::uop
