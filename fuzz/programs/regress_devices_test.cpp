// The saved bugs on devices: the machine that executes all work-items, OpenCL C on PoCL, and the
// same text under Oclgrind, whose findings (races, accesses out of bounds, divergence) are faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runtime/opencl/device.h"
#include "engine/tensor/program/text.h"
#include "fuzz/programs/random_lists.h"
#include "fuzz/programs/saved_programs.h"
#include "oracles/check.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

// Findings of our own, and programs of the catalogue's sections on code generation, rendering and
// running: from H on.
std::vector<std::string> programs() {
  std::vector<std::string> names;
  for (const std::string& name : saved_programs("regress")) {
    const bool has_number =
        name[0] == 'b' && std::isdigit(static_cast<unsigned char>(name[1])) != 0;
    if (!has_number || std::stoi(name.substr(1)) >= 73) names.push_back(name);
  }
  return names;
}

class RegressOn : public testing::TestWithParam<std::string> {
 protected:
  // Devices and what was built on them, kept from one program to the next.
  static void SetUpTestSuite() {
    static const std::array<const runtime::DeviceKind*, 2> kinds = {
        &workgroup::sim_kind(), &runtime::opencl::opencl_kind()};
    devices = std::make_unique<runtime::Devices>(kinds);
    executor = std::make_unique<runtime::Executor>(*devices);
  }
  static void TearDownTestSuite() {
    executor.reset();
    devices.reset();
  }

  static void run_on(const std::string& device, uop::Watch* watch = nullptr) {
    const Result<runtime::Device*> opened = devices->open(device);
    if (!opened.ok()) GTEST_SKIP() << opened.error().message;
    oracles::CheckOptions how;
    how.tensor_graph = how.kernels = how.planned = false;
    how.executor = executor.get();
    how.device = device;
    how.schedule.watch = watch;
    const oracles::Checked checked = oracles::check(saved_program("regress", GetParam()), how);
    EXPECT_EQ(checked.verdict.answer, oracles::Answer::Pass) << checked.verdict.evidence;
  }

  static inline std::unique_ptr<runtime::Devices> devices;
  static inline std::unique_ptr<runtime::Executor> executor;
};

// Every sixth: PoCL takes a tenth of a second for a kernel. All of them where ASSAY_WHOLE is set.
std::vector<std::string> programs_for_pocl() {
  std::vector<std::string> some;
  const size_t step = std::getenv("ASSAY_WHOLE") == nullptr ? 6 : 1;
  const std::vector<std::string> all = programs();
  for (size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

class RegressOnPocl : public RegressOn {};

TEST_P(RegressOnPocl, IsRight) { run_on("cl:pocl-basic"); }

INSTANTIATE_TEST_SUITE_P(Corpus, RegressOnPocl, testing::ValuesIn(programs_for_pocl()),
                         [](const auto& test) { return test.param; });

TEST_P(RegressOn, Sim) { run_on("sim:0"); }
TEST_P(RegressOn, SimWithRandomLists) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    RandomLists lists(workgroup::sim_target(), seed);
    run_on("sim:random", &lists);
  }
}
TEST_P(RegressOn, Oclgrind) { run_on("cl:oclgrind"); }

INSTANTIATE_TEST_SUITE_P(Corpus, RegressOn, testing::ValuesIn(programs()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace assay::fuzz
