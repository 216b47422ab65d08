#include "engine/uop/simplify.h"

#include <vector>

#include "engine/uop/rules/rules.h"

namespace assay::uop {
namespace {

const Pass& simplify_values() {
  static const Pass pass = [] {
    std::vector<const RuleSet*> sets(symbolic_rules().begin(), symbolic_rules().end());
    sets.push_back(&validity_rules());
    return Pass{
        .name = "simplify_values", .accepts = graph_spec(), .yields = graph_spec(), .rules = sets};
  }();
  return pass;
}

const Pass& share_factors() {
  static const Pass pass = {.name = "share_factors",
                            .accepts = graph_spec(),
                            .yields = graph_spec(),
                            .rules = {&factor_rules()}};
  return pass;
}

}  // namespace

std::span<const Pass* const> simplify_passes() {
  static const std::vector<const Pass*> passes = {&simplify_values(), &share_factors()};
  return passes;
}

Result<Ref> simplify(Run& run, Ref root) { return run_passes(simplify_passes(), run, root); }

}  // namespace assay::uop
