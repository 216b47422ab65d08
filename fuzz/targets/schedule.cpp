#include "engine/check.h"
#include "fuzz/targets/case_text.h"
#include "fuzz/targets/extra_counters.h"
#include "fuzz/targets/target.h"
#include "oracles/check.h"

namespace assay::fuzz {

// What a program is scheduled to computes what the reference says, in an order that its edges
// allow, over arenas too; code generation has no part in it.
void one_case(std::string_view text) {
  const std::optional<Case> c = case_to_try(text);
  if (!c) return;
  Coverage coverage;
  oracles::CheckOptions how;
  how.seed = c->seed;
  how.schedule.watch = &coverage;
  const oracles::Checked checked = oracles::check(c->program, how);
  count_features(coverage.take());
  const bool fails = checked.verdict.answer == oracles::Answer::Fail && !checked.malformed;
  ASSAY_CHECK(!fails, "{}: {}\n{}", checked.failed_at, checked.verdict.evidence, to_text(*c));
}

}  // namespace assay::fuzz
