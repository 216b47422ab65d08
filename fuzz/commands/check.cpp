#include "oracles/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/codegen/seen.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/rules.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/pass.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/kernel_text.h"
#include "fuzz/commands/programs.h"
#include "fuzz/trial/shares_local.h"
#include "oracles/median.h"

namespace assay::fuzz {
namespace {

using oracles::Answer;
using oracles::Checked;

struct Options {
  std::vector<std::string> programs;
  uop::Switches switches;
  DeviceOptions devices;
  std::vector<std::string> opts;
  uint64_t seed = 1;
  bool quiet = false;
  bool in_process = false;
};

// What every file showed: kernels that were lowered, those of them in which work-items share LOCAL
// storage, and passes that broke their specs.
class Onlooker : public uop::Watch {
 public:
  using Watch::seen;
  void seen(const codegen::KernelSeen& seen) override {
    ++kernels;
    if (shares_local(seen.linear)) ++sharing;
  }
  void seen(const uop::PassSeen& seen) override {
    if (seen.breach && breach_.empty())
      breach_ = fmt::format("pass {} broke its spec: {}", seen.pass.name, *seen.breach);
  }

  // The verdict, or that a pass has broken its spec since the last one.
  oracles::Verdict with_breach(oracles::Verdict verdict) {
    const std::string breach = std::exchange(breach_, {});
    if (breach.empty() || verdict.answer == Answer::Fail) return verdict;
    return {Answer::Fail, verdict.strength, breach};
  }

  int64_t kernels = 0;
  int64_t sharing = 0;

 private:
  std::string breach_;  // the first since the last verdict
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

  void add(Answer answer) {
    ++(answer == Answer::Pass ? passed : answer == Answer::Fail ? failed : unknown);
  }
  void add(const Checked& checked) {
    if (checked.malformed) {
      ++malformed;
      return;
    }
    add(checked.verdict.answer);
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

void print_totals(const Totals& t) {
  fmt::print("{} files: {} passed, {} failed, {} unknown, {} malformed\n",
             t.passed + t.failed + t.unknown + t.malformed, t.passed, t.failed, t.unknown,
             t.malformed);
  fmt::print("{} elements compared: {:.2f} % unspecified, {:.2f} % ambiguous\n", t.elements,
             percent(t.unspecified, t.elements), percent(t.ambiguous, t.elements));
  if (!t.sharpness.empty()) {
    fmt::print("error bounds: median {:.1f} times the larger of error and half an ulp\n",
               oracles::median(t.sharpness));
  }
  if (t.lower_bound != 0) {
    fmt::print("planned memory: {} bytes, {:.3f} of the lower bound\n", t.planned,
               static_cast<double>(t.planned) / static_cast<double>(t.lower_bound));
  }
}

void print_malformed(const std::string& path, const std::string& why) {
  fmt::print("malformed {}:{}\n", path, why);
}

void print_verdict(const std::string& path, const oracles::Verdict& v, std::string_view counts,
                   bool quiet) {
  if (v.answer == Answer::Pass && quiet) return;
  static constexpr std::string_view kAnswers[] = {"pass", "FAIL", "unknown"};
  const int answer = v.answer == Answer::Pass ? 0 : v.answer == Answer::Fail ? 1 : 2;
  fmt::print("{} {}: {}{}\n", kAnswers[answer], path, v.evidence, counts);
}

// Judges files one by one.
class Judge {
 public:
  Judge(const Options& options, Onlooker& onlooker, oracles::CheckOptions how,
        oracles::KernelOptions kernels)
      : options_(options),
        onlooker_(onlooker),
        how_(std::move(how)),
        kernels_(std::move(kernels)) {}

  void program(const std::string& path, const std::string& text) {
    const Result<tensor::Program> program = tensor::from_text(text);
    if (!program.ok()) return malformed(path, to_string(program.error()));
    Checked c = oracles::check(program.value(), how_);
    c.verdict = onlooker_.with_breach(c.verdict);
    totals.add(c);
    if (c.malformed) return print_malformed(path, c.refused);
    print_verdict(path, c.verdict, fmt::format("; {} kernels, {} copies", c.kernels, c.copies),
                  options_.quiet);
  }
  void kernel(const std::string& path, const std::string& text) {
    KernelText kernel;
    const Result<bool> read = read_kernel_text(text, kernel);
    if (!read.ok()) return malformed(path, to_string(read.error()));
    const Result<oracles::KernelChecked> checked = check(kernel, kernels_);
    if (!checked.ok()) return malformed(path, to_string(checked.error()));
    const oracles::Verdict verdict = onlooker_.with_breach(checked.value().verdict);
    totals.add(verdict.answer);
    print_verdict(path, verdict, "", options_.quiet);
  }

  Totals totals;

 private:
  void malformed(const std::string& path, const std::string& why) {
    ++totals.malformed;
    print_malformed(path, why);
  }

  const Options& options_;
  Onlooker& onlooker_;
  oracles::CheckOptions how_;
  oracles::KernelOptions kernels_;
};

ExitCode fail(const std::string& why, ExitCode code) {
  fmt::print(stderr, "assay check: {}\n", why);
  return code;
}

// All files in turn. A device that one of them cost begins anew.
ExitCode judge_all(Judge& judge, std::span<const std::string> files, runtime::Devices& devices) {
  for (const std::string& path : files) {
    const Result<std::string> text = read_file(path);
    if (!text.ok()) return fail(text.error().message, kEnvironment);
    if (is_kernel_file(path)) {
      judge.kernel(path, text.value());
    } else {
      judge.program(path, text.value());
    }
    for (const auto& device : devices.all()) {
      if (!device->lost().empty() && !device->reopen().ok()) return kEnvironment;
    }
  }
  return kClean;
}

ExitCode conclude(Totals& totals, const Onlooker& seen) {
  print_totals(totals);
  if (seen.kernels != 0) {
    fmt::print("kernels: {} generated, {:.0f} % with LOCAL storage and a barrier\n", seen.kernels,
               percent(seen.sharing, seen.kernels));
  }
  if (totals.failed != 0) return kFinding;
  if (totals.malformed != 0) return kUsage;
  return totals.unknown == 0 ? kClean : kUnknown;
}

ExitCode check_files(const Options& options) {
  const Result<std::vector<std::string>> files = program_files(options.programs);
  if (!files.ok()) return fail(to_string(files.error()), kEnvironment);
  const Result<runtime::OpenOptions> open = options.devices.open_options();
  if (!open.ok()) return fail(open.error().message, kUsage);
  const Result<runtime::KernelLists> lists = runtime::lists_from_text(options.opts);
  if (!lists.ok()) return fail("--opts: " + lists.error().message, kUsage);
  runtime::Devices devices(device_kinds(), open.value());
  runtime::Executor executor(devices);
  Onlooker onlooker;
  schedule::Cache cache;
  oracles::CheckOptions how;
  oracles::KernelOptions kernels;
  if (!options.devices.device.empty()) {
    how.device = options.in_process ? options.devices.device : isolated(options.devices);
    const Result<runtime::Device*> device = devices.open(how.device);
    if (!device.ok()) return fail(device.error().message, kEnvironment);
    how.executor = &executor;
  } else if (!options.opts.empty()) {
    return fail("--opts: kernels are made for a --device", kUsage);
  }
  how.lists = kernels.lists = lists.value();
  how.seed = kernels.seed = options.seed;
  how.schedule.switches = kernels.switches = options.switches;
  how.schedule.cache = &cache;
  how.schedule.watch = kernels.watch = &onlooker;
  how.arenas = options.devices.plan != "off";
  const std::vector<std::string> opted_in = options.devices.opted_in(how.device);
  how.schedule.opted_in = opted_in;
  kernels.executor = &executor;
  kernels.device = how.device;
  Judge judge(options, onlooker, how, kernels);
  const ExitCode judged = judge_all(judge, files.value(), devices);
  return judged == kClean ? conclude(judge.totals, onlooker) : judged;
}

ExitCode check(const Options& options) {
  if (const auto unknown = options.switches.unknown_rule(runtime::all_rules())) {
    return fail(fmt::format("no rule is named '{}'; see assay rules", *unknown), kUsage);
  }
  return check_files(options);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->programs, "programs (.tp), kernels (.uop), or folders of them")
      ->required();
  app.add_option("--seed", options->seed, "of the order in which independent kernels run");
  app.add_flag("--quiet", options->quiet, "print only what fails, and the summary");
  app.add_flag("--in-process", options->in_process,
               "run an OpenCL device here, where a crash of its driver ends everything");
  add_opts(app, options->opts);
  add_device_options(app, options->devices);
  add_switches(app, options->switches);
  return [options] { return check(*options); };
}

}  // namespace

const Command& check_command() {
  static constexpr Command kCommand = {
      "check", "run programs and kernels through every stage and judge each", declare};
  return kCommand;
}

}  // namespace assay::fuzz
