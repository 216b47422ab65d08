// Programs over memory that is planned and over memory of each value's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "engine/runtime/executor.h"
#include "engine/runtime/opencl/device.h"
#include "engine/tensor/program/text.h"
#include "fuzz/programs/program.h"
#include "fuzz/programs/saved_programs.h"
#include "oracles/check.h"
#include "oracles/choices.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

// A program on a device, with and without arenas: the values of all that it computes, as text.
std::vector<std::string> values_of(const tensor::Program& program, runtime::Executor& executor,
                                   const std::string& name, bool arenas, int64_t& planned) {
  const std::vector<std::string> opted_in = {name};
  oracles::CheckOptions how;
  how.tensor_graph = how.kernels = how.planned = false;
  how.executor = &executor;
  how.device = name;
  how.keep_values = true;
  how.arenas = arenas;
  how.schedule.opted_in = opted_in;
  const oracles::Checked checked = oracles::check(program, how);
  EXPECT_EQ(checked.verdict.answer, oracles::Answer::Pass) << checked.verdict.evidence;
  planned += checked.planned_bytes;
  std::vector<std::string> values;
  for (const oracles::Judged& j : checked.judged) {
    if (j.stage != "device") continue;
    EXPECT_NE(j.text, "");
    values.push_back(j.text);
  }
  return values;
}

// Programs that were once planned wrongly, and random ones.
std::vector<tensor::Program> planned_programs(size_t every, uint64_t random) {
  const std::vector<std::string> names = saved_programs("regress");
  std::vector<tensor::Program> programs;
  for (size_t k = 0; k < names.size(); k += every) {
    programs.push_back(saved_program("regress", names[k]));
  }
  for (uint64_t seed = 0; seed < random; ++seed) {
    Choices choices(seed);
    ProgramOptions options;
    options.statements = 6 + static_cast<int>(seed % 10);
    programs.push_back(make_program(choices, options));
  }
  return programs;
}

// What a plan makes of storage shows nowhere: not where parts of a buffer are bound as they are,
// and not where they are sub-buffers of OpenCL.
void expect_same_values(const std::string& name, std::span<const tensor::Program> programs) {
  const std::array<const runtime::DeviceKind*, 2> kinds = {&workgroup::sim_kind(),
                                                           &runtime::opencl::opencl_kind()};
  runtime::OpenOptions options;
  options.optimize = false;
  runtime::Devices devices(kinds, options);
  const Result<runtime::Device*> device = devices.open(name);
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  runtime::Executor executor(devices);
  int64_t planned = 0;
  for (const tensor::Program& program : programs) {
    const std::vector<std::string> own = values_of(program, executor, name, false, planned);
    EXPECT_EQ(values_of(program, executor, name, true, planned), own) << tensor::to_text(program);
  }
  EXPECT_GT(planned, 0);
}

TEST(Plans, ShowNowhereOnTheWorkGroupMachine) {
  expect_same_values("sim:0", planned_programs(1, 60));
}
TEST(Plans, ShowNowhereInSubBuffers) {
  expect_same_values("cl:pocl-basic", planned_programs(20, 3));
}

}  // namespace
}  // namespace assay::fuzz
