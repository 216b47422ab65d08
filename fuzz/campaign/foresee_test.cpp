// What a driver compiles for several cases at once makes no difference to any of them.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "engine/runtime/opencl/device.h"
#include "fuzz/campaign/case_source.h"
#include "fuzz/trial/outcome_text.h"
#include "fuzz/trial/trial.h"
#include "oracles/workgroup/sim.h"
#include "props/property.h"

namespace assay::fuzz {
namespace {

constexpr const char* kDriver = "cl:pocl-basic";

TrialOptions on_driver() {
  static const std::array<const runtime::DeviceKind*, 2> kKinds = {&workgroup::sim_kind(),
                                                                   &runtime::opencl::opencl_kind()};
  TrialOptions how{.kinds = kKinds};
  for (const props::Property* p : props::every_property()) {
    if (!p->is_dear) how.properties.push_back(p);
  }
  return how;
}

std::vector<Case> some_cases() {
  SourceOptions options;
  options.devices = {kDriver};
  const CaseSource source(options, {});
  std::vector<Case> cases;
  for (int64_t n = 0; n < CaseSource::kTogether; n++) cases.push_back(source.make(n).what);
  return cases;
}

std::vector<std::string> outcomes(Trial& trial, const std::vector<Case>& cases) {
  std::vector<std::string> texts;
  for (const Case& c : cases) {
    Outcome o = trial.run(c);
    o.spent.clear();
    texts.push_back(to_text(o));
  }
  return texts;
}

TEST(Foresee, MakesNoDifferenceToAnOutcome) {
  runtime::Devices devices(on_driver().kinds, {});
  if (!devices.open(kDriver).ok()) GTEST_SKIP() << "no OpenCL platform is installed";
  const std::vector<Case> cases = some_cases();
  Trial alone(on_driver());
  Trial together(on_driver());
  together.foresee(cases);
  EXPECT_EQ(outcomes(together, cases), outcomes(alone, cases));
}

TEST(Foresee, LeavesWhatIsNoCaseToTheTrial) {
  Case wrong;
  wrong.device = "cl:none of these";
  Case kernel;
  kernel.device = kDriver;
  kernel.graph = "uop 1 kernel\nnonsense\n";
  const std::vector<Case> cases = {wrong, kernel, {}};
  Trial trial(on_driver());
  trial.foresee(cases);
  EXPECT_NE(trial.run(wrong).malformed, "");
}

}  // namespace
}  // namespace assay::fuzz
