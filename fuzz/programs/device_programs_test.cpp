// Random programs on devices, with random lists of opts: what they compute agrees with the
// reference, and no kernel has a race, diverges or leaves its storage.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <vector>

#include "engine/codegen/opt.h"
#include "engine/codegen/tiling.h"
#include "engine/codegen/transcendental.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/opencl/device.h"
#include "engine/runtime/profiles.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/walk.h"
#include "fuzz/programs/program.h"
#include "fuzz/programs/random_lists.h"
#include "fuzz/programs/saved_programs.h"
#include "oracles/check.h"
#include "oracles/choices.h"
#include "oracles/median.h"
#include "oracles/node_spoiler.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

#ifdef ASSAY_CHECK_SPECS
constexpr uint64_t kPrograms = 20;  // where nothing is optimized
#else
constexpr uint64_t kPrograms = 2000;
#endif

// How many of 16 ops are folds, which are what kernels share LOCAL storage for.
constexpr int kFolds = 6;

// Programs that fail before a test gives up.
constexpr int64_t kMostShown = 5;

// How many programs to run: as many as ASSAY_PROGRAMS says, where it says so.
uint64_t programs_or(uint64_t usual) {
  const char* given = std::getenv("ASSAY_PROGRAMS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : usual;
}

// What many programs showed together.
struct RunTotals {
  int64_t programs = 0;
  int64_t unknown = 0;
  int64_t failed = 0;
  int64_t kernels = 0;
  int64_t folding = 0;  // of the kernels, with something to fold
  int64_t sharing = 0;  // with barriers
  std::array<int64_t, codegen::kOptKinds> opts = {};
  int64_t elements = 0;
  int64_t masked = 0;  // unspecified or ambiguous
  std::vector<double> sharpness;

  void add(const oracles::Checked& checked) {
    ++programs;
    unknown += checked.verdict.answer == oracles::Answer::Unknown ? 1 : 0;
    failed += checked.verdict.answer == oracles::Answer::Fail ? 1 : 0;
    for (const oracles::Judged& j : checked.judged) {
      elements += j.comparison.elements();
      masked += j.comparison.unspecified + j.comparison.ambiguous;
      sharpness.insert(sharpness.end(), j.comparison.sharpness.begin(),
                       j.comparison.sharpness.end());
    }
  }
  double share() const { return percent(sharing, kernels); }
  void print(const std::string& where) {
    fmt::print(
        "{}: {} programs, {} unknown; {} kernels, {:.1f} % with folds, {:.1f} % with barriers;",
        where, programs, unknown, kernels, percent(folding, kernels), share());
    for (int k = 0; k < codegen::kOptKinds; ++k) {
      fmt::print(" {} {}", codegen::info(codegen::OptKind(k)).text, opts[static_cast<size_t>(k)]);
    }
    fmt::print("; {:.2f} % of elements masked; ", percent(masked, elements));
    fmt::print("bounds: median {:.1f} times the larger of error and half an ulp\n",
               oracles::median(sharpness));
  }

 private:
  static double percent(int64_t part, int64_t whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<int64_t>(whole, 1));
  }
};

// Counts the lists as well, by what is in them.
class CountedLists : public RandomLists {
 public:
  CountedLists(const uop::Target& target, uint64_t seed, RunTotals& totals)
      : RandomLists(target, seed), target_(target), totals_(totals) {}

  uop::Ref edit(std::string_view stage, uop::Graph& g, uop::Ref u) override {
    const uop::Ref chosen = RandomLists::edit(stage, g, u);
    if (chosen == u) return u;
    const auto opts = codegen::opts_from_text(codegen::kernel_name(chosen).opts.value_or(""));
    for (const codegen::Opt& opt : opts.value()) ++totals_.opts[static_cast<size_t>(opt.kind)];
    const auto tiling = codegen::Tiling::of(g, target_, u);
    if (tiling.ok() && tiling.value().reduce_axes() > 0) ++totals_.folding;
    return chosen;
  }

 private:
  const uop::Target& target_;
  RunTotals& totals_;
};

// Runs the random programs of seeds from `first` on, of up to 10 statements, on a device.
void run_block(std::string_view name, const runtime::OpenOptions& open, uint64_t first,
               uint64_t programs, RunTotals& totals) {
  const std::array<const runtime::DeviceKind*, 2> kinds = {&workgroup::sim_kind(),
                                                           &runtime::opencl::opencl_kind()};
  runtime::Devices devices(kinds, open);
  const Result<runtime::Device*> device = devices.open(name);
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  runtime::Executor executor(devices);
  CountedLists lists(device.value()->target(), first + 1, totals);
  oracles::CheckOptions how;
  how.tensor_graph = how.kernels = how.planned = false;
  how.executor = &executor;
  how.device = name;
  how.schedule.watch = &lists;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    Choices choices(seed);
    ProgramOptions options;
    options.statements = 1 + static_cast<int>(seed % 10);
    options.folds = kFolds;
    const tensor::Program program = make_program(choices, options);
    const oracles::Checked checked = oracles::check(program, how);
    EXPECT_NE(checked.verdict.answer, oracles::Answer::Fail)
        << "seed " << seed << ": " << checked.verdict.evidence << "\n"
        << tensor::to_text(program);
    totals.add(checked);
    if (totals.failed == kMostShown) break;
  }
  totals.kernels += lists.kernels;
  totals.sharing += lists.sharing;
}

// Runs programs in blocks, each on a device of its own, with another seed of what is random.
void run_on(std::string_view name, uint64_t programs, std::string_view profile = "",
            bool is_native = false, uint64_t block = 500) {
  RunTotals totals;
  runtime::OpenOptions open;
  if (!profile.empty()) open.profile = runtime::profile(profile, is_native);
  for (uint64_t first = 0; first < programs; first += block) {
    open.seed = first / block + 1;
    run_block(name, open, first, std::min(block, programs - first), totals);
    if (totals.failed == kMostShown || testing::Test::IsSkipped()) return;
  }
  totals.print(fmt::format("{} {}{}", name, profile, is_native ? " native" : ""));
  // Groups of one work-item share nothing.
  const bool is_judged = totals.kernels >= 200 && profile != "generic";
  EXPECT_GE(totals.share(), is_judged ? 30.0 : 0.0);
  // What a device has no type for is not run on it.
  EXPECT_LE(totals.unknown * 4, profile.empty() ? 0 : totals.programs);
}

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
  oracles::NodeSpoiler no_barriers("pm_implicit_barriers", uop::Op::Barrier, oracles::first_source);
  EXPECT_NE(verdict_of_a_sum(no_barriers).find("race"), std::string::npos)
      << verdict_of_a_sum(no_barriers);
}

TEST(DevicePrograms, AreCaughtWithAWrongSum) {
  oracles::NodeSpoiler no_sums("devectorize", uop::Op::Add, oracles::first_source);
  EXPECT_NE(verdict_of_a_sum(no_sums).find("at stage device"), std::string::npos)
      << verdict_of_a_sum(no_sums);
}

TEST(DevicePrograms, AgreeOnTheWorkGroupMachine) { run_on("sim:0", programs_or(kPrograms)); }
TEST(DevicePrograms, AgreeInRandomOrders) { run_on("sim:random", programs_or(kPrograms / 4)); }
TEST(DevicePrograms, AgreeOnPocl) { run_on("cl:pocl-basic", programs_or(kPrograms / 20)); }

// A profile, and whether functions are the device's own.
struct ProfileChoice {
  std::string_view name;
  bool is_native;
};
class OfProfiles : public testing::TestWithParam<ProfileChoice> {};

TEST_P(OfProfiles, AgreeInRandomOrders) {
  const auto [profile, is_native] = GetParam();
  run_on("sim:random", programs_or(kPrograms / 20), profile, is_native);
}

// A device that takes every freedom of a profile. None of what it does is an alarm.
TEST_P(OfProfiles, RaiseNoFalseAlarmOfAnAdversary) {
  const auto [profile, is_native] = GetParam();
  run_on("sim:adversary", programs_or(kPrograms / 10), profile, is_native, 50);
}

// A program of the corpus makes no alarm there either.
TEST(DevicePrograms, OfTheCorpusRaiseNoFalseAlarmOfAnAdversary) {
  const std::array<const runtime::DeviceKind*, 1> kinds = {&workgroup::sim_kind()};
  runtime::OpenOptions open;
  open.profile = runtime::profile("adreno-660");
  runtime::Devices devices(kinds, open);
  runtime::Executor executor(devices);
  oracles::CheckOptions how;
  how.tensor_graph = how.kernels = how.planned = false;
  how.executor = &executor;
  how.device = "sim:adversary";
  for (const std::string_view folder : {"regress", "ops", "seeds/program"}) {
    for (const std::string& name : saved_programs(folder)) {
      const oracles::Checked checked = oracles::check(saved_program(folder, name), how);
      EXPECT_NE(checked.verdict.answer, oracles::Answer::Fail)
          << name << ": " << checked.verdict.evidence;
    }
  }
}

std::string name_of_profile(const testing::TestParamInfo<ProfileChoice>& info) {
  std::string name(info.param.name.empty() ? "sim" : info.param.name);
  if (info.param.is_native) name += "-native";
  std::ranges::replace(name, '-', '_');
  return name;
}
constexpr ProfileChoice kProfiles[] = {{"", false},           {"generic", false},
                                       {"adreno-630", false}, {"adreno-660", false},
                                       {"adreno-740", false}, {"adreno-660", true}};
INSTANTIATE_TEST_SUITE_P(DevicePrograms, OfProfiles, testing::ValuesIn(kProfiles), name_of_profile);

// A program of one op, which is what its kernel has.
struct Trial {
  uop::Op op;
  std::string_view text;
};
constexpr Trial kTrials[] = {
    {uop::Op::Add, "add(x, y)"},  {uop::Op::Sub, "sub(x, y)"},  {uop::Op::Mul, "mul(x, y)"},
    {uop::Op::FDiv, "div(x, y)"}, {uop::Op::Recip, "recip(x)"}, {uop::Op::Sqrt, "sqrt(x)"},
    {uop::Op::Exp, "exp(x)"},     {uop::Op::Exp2, "exp2(x)"},   {uop::Op::Log, "log(x)"},
    {uop::Op::Log2, "log2(x)"},   {uop::Op::Sin, "sin(x)"},     {uop::Op::Cos, "cos(x)"},
    {uop::Op::Tan, "tan(x)"},     {uop::Op::Pow, "pow(x, y)"},
};

// What is said of an adversary on a target that has all functions of its own. `breaks` is the op
// that is off by twice its limit.
oracles::Answer tried(const Trial& trial, uint64_t seed, std::optional<uop::Op> breaks) {
  workgroup::SimOptions sim;
  const auto profiles = runtime::all_profiles();
  sim.target = profiles[seed % profiles.size()].target;
  sim.target.limits = workgroup::sim_target().limits;
  for (uop::UlpLimit& row : sim.target.math.limits) {
    sim.target.math.native.insert(row.op);
    // One that is worse is not taken.
    row.ulps = std::min(row.ulps, codegen::promised_ulps(row.op).value_or(row.ulps));
  }
  sim.adversary = workgroup::Adversary{seed, breaks, 2};
  runtime::Devices devices({});
  devices.add(workgroup::make_sim(sim));
  runtime::Executor executor(devices);
  oracles::CheckOptions how;
  how.executor = &executor;
  const bool has_half = sim.target.arithmetic.has(uop::F16);
  const auto program = tensor::from_text(
      fmt::format("tp 1\nx: {0}[64] = input(random=uniform, low=0.5, high=2, seed={1})\n"
                  "y: {0}[64] = input(random=uniform, low=0.5, high=2, seed={2})\n"
                  "z: {0}[64] = {3}\n",
                  has_half && seed % 8 >= 4 ? "f16" : "f32", 2 * seed, 2 * seed + 1, trial.text));
  EXPECT_TRUE(program.ok()) << to_string(program.error());
  return oracles::check(program.value(), how).verdict.answer;
}

TEST(AdversaryTrials, AreCaughtWhereOneOpGoesTwiceAsFar) {
  const uint64_t trials = programs_or(42);
  uint64_t caught = 0;
  for (uint64_t seed = 0; seed < trials; ++seed) {
    const Trial& trial = kTrials[seed % std::size(kTrials)];
    EXPECT_EQ(tried(trial, seed, std::nullopt), oracles::Answer::Pass) << trial.text;
    if (tried(trial, seed, trial.op) == oracles::Answer::Fail) {
      ++caught;
    } else {
      fmt::print("seed {}: {} is not caught\n", seed, trial.text);
    }
  }
  fmt::print("{} of {} trials caught\n", caught, trials);
  EXPECT_GE(caught * 20, trials * 19);
}

}  // namespace
}  // namespace assay::fuzz
