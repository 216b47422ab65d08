#include "oracles/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/codegen/seen.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/rules.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/programs.h"

namespace assay::fuzz {
namespace {

using oracles::Answer;
using oracles::Checked;

struct Options {
  std::vector<std::string> programs;
  uop::Switches switches;
  DeviceOptions devices;
  uint64_t seed = 1;
  bool quiet = false;
  bool in_process = false;
};

// Kernels that were lowered, and those of them in which work-items share LOCAL storage.
class SharingCount : public uop::Watch {
 public:
  using Watch::seen;
  void seen(const codegen::KernelSeen& seen) override {
    bool has_local = false;
    bool has_barrier = false;
    for (const uop::Ref u : seen.linear->src) {
      has_barrier = has_barrier || u->op == uop::Op::Barrier;
      has_local =
          has_local || (u->op == uop::Op::Buffer && u->arg.addr_space() == uop::AddrSpace::Local);
    }
    ++kernels;
    if (has_local && has_barrier) ++sharing;
  }

  int64_t kernels = 0;
  int64_t sharing = 0;
};

// What all programs together showed.
struct Totals {
  int passed = 0;
  int failed = 0;
  int unknown = 0;
  int malformed = 0;
  int64_t elements = 0;
  int64_t unspecified = 0;
  int64_t ambiguous = 0;
  int64_t planned = 0;
  int64_t lower_bound = 0;
  std::vector<double> sharpness;  // bound / max(error, half a unit in the last place)

  void add(const Checked& checked) {
    if (checked.malformed) {
      ++malformed;
      return;
    }
    const Answer answer = checked.verdict.answer;
    ++(answer == Answer::Pass ? passed : answer == Answer::Fail ? failed : unknown);
    planned += checked.planned_bytes;
    lower_bound += checked.lower_bound_bytes;
    for (const oracles::Judged& j : checked.judged) {
      elements += j.comparison.elements();
      unspecified += j.comparison.unspecified;
      ambiguous += j.comparison.ambiguous;
      sharpness.insert(sharpness.end(), j.comparison.sharpness.begin(),
                       j.comparison.sharpness.end());
    }
  }
};

double percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_totals(Totals& t) {
  fmt::print("{} programs: {} passed, {} failed, {} unknown, {} malformed\n",
             t.passed + t.failed + t.unknown + t.malformed, t.passed, t.failed, t.unknown,
             t.malformed);
  fmt::print("{} elements compared: {:.2f} % unspecified, {:.2f} % ambiguous\n", t.elements,
             percent(t.unspecified, t.elements), percent(t.ambiguous, t.elements));
  if (!t.sharpness.empty()) {
    const auto middle = t.sharpness.begin() + static_cast<ptrdiff_t>(t.sharpness.size() / 2);
    std::nth_element(t.sharpness.begin(), middle, t.sharpness.end());
    fmt::print("error bounds: median {:.1f} times the larger of error and half an ulp\n", *middle);
  }
  if (t.lower_bound != 0) {
    fmt::print("planned memory: {} bytes, {:.3f} of the lower bound\n", t.planned,
               static_cast<double>(t.planned) / static_cast<double>(t.lower_bound));
  }
}

void print_verdict(const std::string& path, const Checked& c, bool quiet) {
  const bool passed = c.verdict.answer == Answer::Pass;
  if (passed && quiet) return;
  const bool failed = c.verdict.answer == Answer::Fail;
  if (c.malformed) {
    fmt::print("malformed {}:{}\n", path, c.refused);
    return;
  }
  fmt::print("{} {}: {}; {} kernels, {} copies\n",
             passed   ? "pass"
             : failed ? "FAIL"
                      : "unknown",
             path, c.verdict.evidence, c.kernels, c.copies);
}

ExitCode check_programs(const Options& options) {
  const Result<std::vector<std::string>> files = program_files(options.programs);
  if (!files.ok()) {
    fmt::print(stderr, "assay check: {}\n", to_string(files.error()));
    return kEnvironment;
  }
  const Result<runtime::OpenOptions> open = options.devices.open_options();
  if (!open.ok()) {
    fmt::print(stderr, "assay check: {}\n", open.error().message);
    return kUsage;
  }
  runtime::Devices devices(device_kinds(), open.value());
  runtime::Executor executor(devices);
  SharingCount sharing;
  schedule::Cache cache;
  oracles::CheckOptions how;
  if (!options.devices.device.empty()) {
    how.device = options.in_process ? options.devices.device : isolated(options.devices);
    const Result<runtime::Device*> device = devices.open(how.device);
    if (!device.ok()) {
      fmt::print(stderr, "assay check: {}\n", device.error().message);
      return kEnvironment;
    }
    how.executor = &executor;
    how.schedule.watch = &sharing;
  }
  how.seed = options.seed;
  how.schedule.switches = options.switches;
  how.schedule.cache = &cache;
  Totals totals;
  for (const std::string& path : files.value()) {
    const Result<tensor::Program> program = read_program(path);
    if (!program.ok()) {
      fmt::print("malformed {}:{}\n", path, to_string(program.error()));
      totals.malformed++;
      continue;
    }
    const Checked checked = oracles::check(program.value(), how);
    print_verdict(path, checked, options.quiet);
    totals.add(checked);
    for (const auto& device : devices.all()) {
      if (!device->lost().empty() && !device->reopen().ok()) return kEnvironment;
    }
  }
  print_totals(totals);
  if (sharing.kernels != 0) {
    fmt::print("kernels: {} generated, {:.0f} % with LOCAL storage and a barrier\n",
               sharing.kernels, percent(sharing.sharing, sharing.kernels));
  }
  if (totals.failed != 0) return kFinding;
  if (totals.malformed != 0) return kUsage;
  return totals.unknown == 0 ? kClean : kUnknown;
}

ExitCode check(const Options& options) {
  if (const auto unknown = options.switches.unknown_rule(runtime::all_rules())) {
    fmt::print(stderr, "assay check: no rule is named '{}'; see assay rules\n", *unknown);
    return kUsage;
  }
  return check_programs(options);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("PROGRAM", options->programs, ".tp files, or folders of them")->required();
  app.add_option("--seed", options->seed, "of the order in which independent kernels run");
  app.add_flag("--quiet", options->quiet, "print only what fails, and the summary");
  app.add_flag("--in-process", options->in_process,
               "run an OpenCL device here, where a crash of its driver ends everything");
  add_device_options(app, options->devices);
  add_switches(app, options->switches);
  return [options] { return check(*options); };
}

}  // namespace

const Command& check_command() {
  static constexpr Command kCommand = {
      "check", "run programs through every stage and judge each against the reference", declare};
  return kCommand;
}

}  // namespace assay::fuzz
