// Random programs on devices, with random lists of opts: what they compute agrees with the
// reference, and no kernel has a race, diverges or leaves its storage.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/codegen/opt.h"
#include "engine/codegen/random_opts.h"
#include "engine/codegen/seen.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/opencl/device.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/walk.h"
#include "fuzz/choices.h"
#include "fuzz/program.h"
#include "oracles/check.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

#ifdef ASSAY_CHECK_SPECS
constexpr uint64_t kPrograms = 20;  // where nothing is optimized
#else
constexpr uint64_t kPrograms = 2000;
#endif

// Gives each kernel a legal list of its own, and counts those that share LOCAL storage.
class RandomLists : public uop::Watch {
 public:
  RandomLists(const uop::Target& target, uint64_t seed) : target_(target), random_(seed) {}

  bool edits() const override { return true; }
  uop::Ref edit(std::string_view stage, uop::Graph& g, uop::Ref u) override {
    if (stage != "simplify_ranges") return u;
    const auto opts = codegen::random_opts(g, target_, u, random_);
    return opts.ok() ? codegen::with_opts(g, u, opts.value()) : u;
  }
  using Watch::seen;
  void seen(const codegen::KernelSeen& seen) override {
    ++kernels;
    for (const uop::Ref u : seen.linear->src) {
      if (u->op != uop::Op::Barrier) continue;
      ++sharing;
      return;
    }
  }

  int kernels = 0;
  int sharing = 0;

 private:
  const uop::Target& target_;
  uop::Random random_;
};

// Runs random programs of up to 10 statements on a device; the share of their kernels with barriers
// is printed.
void run_on(std::string_view name, uint64_t programs) {
  const std::array<const runtime::DeviceKind*, 2> kinds = {&workgroup::sim_kind(),
                                                           &runtime::opencl::opencl_kind()};
  runtime::Devices devices(kinds);
  const Result<runtime::Device*> device = devices.open(name);
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  runtime::Executor executor(devices);
  RandomLists lists(device.value()->target(), 1);
  oracles::CheckOptions how;
  how.tensor_graph = how.kernels = how.planned = false;
  how.executor = &executor;
  how.device = name;
  how.schedule.watch = &lists;
  for (uint64_t seed = 0; seed < programs; ++seed) {
    Choices choices(seed);
    ProgramOptions options;
    options.statements = 1 + static_cast<int>(seed % 10);
    const tensor::Program program = make_program(choices, options);
    const oracles::Checked checked = oracles::check(program, how);
    ASSERT_EQ(checked.verdict.answer, oracles::Answer::Pass)
        << "seed " << seed << ": " << checked.verdict.evidence << "\n"
        << tensor::to_text(program);
  }
  std::printf("%s: %d kernels, %d with barriers\n", std::string(name).c_str(), lists.kernels,
              lists.sharing);
}

// Takes one kind of node out of every kernel after a pass: it becomes its first source.
class Spoiler : public uop::Watch {
 public:
  Spoiler(std::string_view stage, uop::Op op) : stage_(stage), op_(op) {}

  bool edits() const override { return true; }
  uop::Ref edit(std::string_view stage, uop::Graph& g, uop::Ref u) override {
    if (stage != stage_) return u;
    uop::Substitution map;
    for (const uop::Ref n : uop::toposort(g, u)) {
      if (n->op == op_) map[n] = n->src[0];
    }
    return uop::substitute(g, u, map);
  }

 private:
  std::string_view stage_;
  uop::Op op_;
};

std::string verdict_of_a_sum(uop::Watch& watch) {
  const std::array<const runtime::DeviceKind*, 1> kinds = {&workgroup::sim_kind()};
  runtime::Devices devices(kinds);
  runtime::Executor executor(devices);
  oracles::CheckOptions how;
  how.executor = &executor;
  how.schedule.watch = &watch;
  const auto program = tensor::from_text(
      "tp 1\nx: f32[8, 64] = input(random=uniform, seed=1)\ny: f32[8] = sum(x, axes=[1])\n");
  EXPECT_TRUE(program.ok());
  const oracles::Checked checked = oracles::check(program.value(), how);
  return checked.verdict.answer == oracles::Answer::Fail ? checked.verdict.evidence : "no failure";
}

// The machine is trusted since it finds what is planted.
TEST(DevicePrograms, AreCaughtWithoutABarrier) {
  Spoiler no_barriers("pm_implicit_barriers", uop::Op::Barrier);
  EXPECT_NE(verdict_of_a_sum(no_barriers).find("race"), std::string::npos)
      << verdict_of_a_sum(no_barriers);
}

TEST(DevicePrograms, AreCaughtWithAWrongSum) {
  Spoiler no_sums("devectorize", uop::Op::Add);
  EXPECT_NE(verdict_of_a_sum(no_sums).find("at stage device"), std::string::npos)
      << verdict_of_a_sum(no_sums);
}

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
    if (j.stage == "device") values.push_back(j.text);
  }
  return values;
}

// Programs that were once planned wrongly, and random ones.
std::vector<tensor::Program> planned_programs(size_t every, uint64_t random) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_CORPUS "/regress")) {
    if (entry.path().extension() == ".tp") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<tensor::Program> programs;
  for (size_t k = 0; k < files.size(); k += every) {
    std::ifstream file(files[k]);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    programs.push_back(tensor::from_text(text).value());
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

TEST(DevicePrograms, AgreeOnTheWorkGroupMachine) { run_on("sim:0", kPrograms); }
TEST(DevicePrograms, AgreeInRandomOrders) { run_on("sim:random", kPrograms / 4); }
TEST(DevicePrograms, AgreeOnPocl) { run_on("cl:pocl-basic", kPrograms / 20); }

}  // namespace
}  // namespace assay::fuzz
