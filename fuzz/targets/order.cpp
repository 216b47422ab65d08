#include <variant>

#include "engine/check.h"
#include "fuzz/targets/case_text.h"
#include "fuzz/targets/target.h"
#include "oracles/workgroup/sim.h"
#include "props/compile.h"
#include "props/verifier.h"

namespace assay::fuzz {
namespace {

// The properties of schedules and of plans.
std::vector<const props::Property*> order_properties() {
  std::vector<const props::Property*> result;
  for (const props::Property& p : props::all_properties()) {
    const bool is_of_order =
        std::holds_alternative<props::Check<schedule::ScheduleSeen>>(p.check) ||
        std::holds_alternative<props::Check<schedule::PlanSeen>>(p.check);
    if (is_of_order) result.push_back(&p);
  }
  return result;
}

}  // namespace

// What is proved of the order of kernels and of the plan of memory holds of every program.
void one_case(std::string_view text) {
  const std::optional<Case> c = case_to_try(text);
  if (!c) return;
  static smt::Prover prover;
  props::Verifier verifier(order_properties(), {prover, workgroup::sim_target(), c->seed});
  const Result<int64_t> kernels = props::compile(c->program, {}, verifier);
  (void)kernels;  // what is refused has no schedule
  for (const props::Judgement& j : verifier.take()) {
    ASSAY_CHECK(j.checked.verdict.answer != props::Answer::Fail, "{} of {}: {}\n{}", j.property,
                j.subject, j.checked.verdict.evidence, to_text(*c));
  }
}

}  // namespace assay::fuzz
