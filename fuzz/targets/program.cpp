#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/targets/case_text.h"
#include "fuzz/targets/extra_counters.h"
#include "fuzz/targets/target.h"
#include "fuzz/trial/trial.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

Trial& trial() {
  static const runtime::DeviceKind* const kKinds[] = {&workgroup::sim_kind()};
  static Trial made(TrialOptions{.kinds = kKinds});
  return made;
}

}  // namespace

// Each stage of a program computes what the reference says, on a simulated device too.
void one_case(std::string_view text) {
  const std::optional<Case> c = case_to_try(text);
  if (!c) return;
  Coverage coverage;
  const Outcome outcome = trial().run(*c, {}, &coverage);
  count_features(coverage.take());
  if (outcome.findings.empty()) return;
  for (const Finding& f : outcome.findings) {
    fmt::print(stderr, "FAIL {} at {} ({}): {}\n", f.judge, f.stage, f.shape, f.evidence);
  }
  fmt::print(stderr, "{}", to_text(*c));
  std::abort();
}

}  // namespace assay::fuzz
