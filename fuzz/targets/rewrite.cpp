#include "engine/check.h"
#include "fuzz/targets/extra_counters.h"
#include "fuzz/targets/target.h"
#include "fuzz/targets/term_text.h"
#include "fuzz/trial/term_trial.h"

namespace assay::fuzz {

// Every rule that fires while a term is simplified keeps its meaning, and a simple term is simple.
void one_case(std::string_view text) {
  uop::Graph g;
  const uop::Ref term = term_to_try(g, text);
  if (term == nullptr) return;
  Coverage coverage;
  const std::optional<Finding> found = try_term(g, term, {}, &coverage);
  count_features(coverage.take());
  ASSAY_CHECK(!found, "{} at {}: {}", found->judge, found->stage, found->evidence);
}

}  // namespace assay::fuzz
