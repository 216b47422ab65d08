#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/runtime/executor.h"
#include "engine/runtime/kernel_lists.h"
#include "engine/runtime/rules.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"
#include "engine/tensor/session.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/emit.h"
#include "fuzz/commands/kernel_text.h"
#include "fuzz/commands/programs.h"
#include "oracles/check.h"
#include "oracles/value_text.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

using schedule::Schedule;

struct Options {
  std::string program;
  std::string emit;
  std::string format = "text";
  uop::Switches switches;
  DeviceOptions devices;
  std::vector<std::string> opts;
  runtime::KernelLists lists;  // of `opts`
  int repeat = 1;
};

ExitCode fail(const std::string& path, const Error& error, ExitCode code) {
  fmt::print(stderr, "assay run: {}:{}\n", path, to_string(error));
  return code;
}

// Schedules all that the program forces and prints one stage of each schedule.
ExitCode emit(const Options& options, const tensor::Program& program, const Stage& stage,
              const uop::Target& target) {
  const Result<runtime::KernelLists> lists = runtime::with_hints(options.lists, program);
  if (!lists.ok()) return fail(options.program, lists.error(), kUsage);
  const auto target_of = [&](std::string_view) -> Result<const uop::Target*> { return &target; };
  const Format format = options.format == "dot" ? Format::Dot : Format::Text;
  int64_t kernels = 0;
  ExitCode code = kUsage;  // of what is wrong
  tensor::Session session;
  tensor::Builder builder(session, program);
  const auto print = [&](std::span<const tensor::Tensor* const> tensors) -> Result<bool> {
    schedule::Options how;
    how.switches = options.switches;
    code = kFinding;
    ASSAY_TRY(made, schedule::linear_with_vars(session, tensors, how));
    code = kUsage;
    if (made.call == nullptr) return true;
    ASSAY_TRY(listed, runtime::with_lists(session.graph(), made, lists.value(), kernels, target_of,
                                          options.switches));
    code = kFinding;
    ASSAY_TRY(text,
              stage.text({session.graph(), listed, options.switches, target, format, kernels}));
    fmt::print("{}", text);
    kernels += static_cast<int64_t>(made.linear->src.size());
    code = kUsage;
    return true;
  };
  const Result<bool> printed = builder.run(print);
  if (!printed.ok()) return fail(options.program, printed.error(), code);
  const Result<bool> within = lists.value().within(kernels);
  return within.ok() ? kClean : fail(options.program, within.error(), kUsage);
}

void print_counts(std::string_view what, const runtime::Counts& c) {
  fmt::print(
      "  {:<10}{:>8} kernels {:>4} copies {:>12} peak bytes {:>5} queue waits {:>4} host waits\n",
      what, c.kernels, c.copies, c.peak_bytes, c.queue_waits, c.host_waits);
}

// What was foreseen of a run on devices, what came of it, and each call, numbered from `first` on.
void print_run(const runtime::Ran& ran, size_t first) {
  print_counts("predicted", ran.predicted);
  print_counts("actual", ran.actual);
  for (const runtime::CallRun& c : ran.calls) {
    const double us = static_cast<double>(c.end_ns - c.begin_ns) / 1000;
    fmt::print("  {:>4} {:<7} {:>10.1f} us {:>10} bytes {:>12} operations  {} on {}\n",
               first + static_cast<size_t>(c.call), to_text(c.status), us, c.bytes, c.operations,
               c.is_copy ? "copy" : c.name, c.device);
  }
}

ExitCode judge(const oracles::Verdict& verdict) {
  if (verdict.answer == oracles::Answer::Unknown) {
    fmt::print("unknown: {}\n", verdict.evidence);
    return kUnknown;
  }
  const bool passed = verdict.answer == oracles::Answer::Pass;
  fmt::print("{}: {}\n", passed ? "pass" : "FAIL", verdict.evidence);
  return passed ? kClean : kFinding;
}

// Runs the program in the interpreter, and on a device where one is named, and says what came of
// it.
ExitCode execute(const Options& options, const tensor::Program& program,
                 runtime::Devices& devices) {
  runtime::Executor executor(devices);
  oracles::CheckOptions how;
  how.schedule.switches = options.switches;
  how.keep_values = true;
  how.lists = options.lists;
  if (!options.devices.device.empty()) {
    how.executor = &executor;
    how.device = options.devices.device;
  }
  how.arenas = options.devices.plan != "off";
  const std::vector<std::string> opted_in = options.devices.opted_in(how.device);
  how.schedule.opted_in = opted_in;
  ExitCode code = kClean;
  for (int k = 0; k < options.repeat; ++k) {
    const oracles::Checked checked = oracles::check(program, how);
    for (const oracles::Judged& j : checked.judged) {
      if (j.stage == "kernels" && k == 0) fmt::print("{} = {}\n", j.value, j.text);
    }
    fmt::print("{} schedules, {} kernels, {} copies, {} bytes planned\n", checked.schedules,
               checked.kernels, checked.copies, checked.planned_bytes);
    size_t calls = 0;
    for (const runtime::Ran& ran : checked.runs) {
      print_run(ran, calls);
      calls += ran.calls.size();
    }
    if (checked.malformed) {
      fmt::print(stderr, "assay run: {}:{}\n", options.program, checked.refused);
      return kUsage;
    }
    code = judge(checked.verdict);
    if (code != kClean) break;
  }
  return code;
}

// The same of a kernel, with what its arguments are afterwards.
ExitCode execute(const Options& options, KernelText& kernel, runtime::Devices& devices) {
  runtime::Executor executor(devices);
  oracles::KernelOptions how;
  how.executor = &executor;
  how.device = options.devices.device.empty() ? "sim:0" : options.devices.device;
  how.lists = options.lists;
  how.switches = options.switches;
  ExitCode code = kClean;
  for (int k = 0; k < options.repeat && code == kClean; ++k) {
    const Result<oracles::KernelChecked> checked = check(kernel, how);
    if (!checked.ok()) return fail(options.program, checked.error(), kUsage);
    int slot = 0;
    for (const oracles::KernelArgument& a : checked.value().arguments) {
      const int64_t size = static_cast<int64_t>(a.bytes.size()) / uop::bytes_of(a.dtype);
      if (k == 0) {
        fmt::print("argument {} = {}\n", slot++, oracles::value_text(a.dtype, {&size, 1}, a.bytes));
      }
    }
    for (const runtime::Ran& ran : checked.value().runs) print_run(ran, 0);
    code = judge(checked.value().verdict);
  }
  return code;
}

// Prints one stage of a kernel on its own.
ExitCode emit(const Options& options, KernelText& kernel, const Stage& stage,
              const uop::Target& target) {
  if (!stage.of_kernels) {
    return fail(options.program, Error{fmt::format("a kernel has no stage {}", stage.name)},
                kUsage);
  }
  uop::Graph& g = kernel.file.graph;
  const Result<Schedule> call = oracles::one_call(g, kernel.root, "sim:0", {});
  if (!call.ok()) return fail(options.program, call.error(), kUsage);
  const auto target_of = [&](std::string_view) -> Result<const uop::Target*> { return &target; };
  const Result<Schedule> listed =
      runtime::with_lists(g, call.value(), options.lists, 0, target_of, options.switches);
  if (!listed.ok()) return fail(options.program, listed.error(), kUsage);
  const Emission emission = {g, listed.value(), options.switches, target,
                             options.format == "dot" ? Format::Dot : Format::Text};
  const Result<std::string> text = stage.text(emission);
  if (!text.ok()) return fail(options.program, text.error(), kFinding);
  fmt::print("{}", text.value());
  return kClean;
}

// A program or a kernel on its way: run, or a stage of it printed.
template <typename Input>
ExitCode run_or_emit(const Options& options, Input& input, runtime::Devices& devices,
                     const uop::Target& target) {
  if (options.emit.empty()) return execute(options, input, devices);
  for (const Stage& stage : emit_stages()) {
    if (stage.name == options.emit) return emit(options, input, stage, target);
  }
  return kUsage;
}

ExitCode run(const Options& options) {
  if (const auto unknown = options.switches.unknown_rule(runtime::all_rules())) {
    fmt::print(stderr, "assay run: no rule is named '{}'; see assay rules\n", *unknown);
    return kUsage;
  }
  const Result<std::string> text = read_file(options.program);
  if (!text.ok()) {
    fmt::print(stderr, "assay run: {}\n", text.error().message);
    return kEnvironment;
  }
  const bool is_kernel = is_kernel_file(options.program);
  KernelText kernel;
  tensor::Program program;
  if (is_kernel) {
    const Result<bool> read = read_kernel_text(text.value(), kernel);
    if (!read.ok()) return fail(options.program, read.error(), kUsage);
  } else {
    Result<tensor::Program> read = tensor::from_text(text.value());
    if (!read.ok()) return fail(options.program, read.error(), kUsage);
    program = std::move(read).value();
  }
  const Result<runtime::OpenOptions> how = options.devices.open_options();
  if (!how.ok()) {
    fmt::print(stderr, "assay run: {}\n", how.error().message);
    return kUsage;
  }
  runtime::Devices devices(device_kinds(), how.value());
  runtime::Device* device = nullptr;
  if (!options.devices.device.empty()) {
    const Result<runtime::Device*> opened = devices.open(options.devices.device);
    if (!opened.ok()) {
      fmt::print(stderr, "assay run: {}\n", opened.error().message);
      return kEnvironment;
    }
    device = opened.value();
  }
  if (!options.opts.empty() && device == nullptr && options.emit.empty() && !is_kernel) {
    fmt::print(stderr, "assay run: --opts is for kernels: give a --device, or a stage to --emit\n");
    return kUsage;
  }
  const uop::Target* profile = how.value().profile;
  const uop::Target& target = device != nullptr    ? device->target()
                              : profile != nullptr ? *profile
                                                   : workgroup::sim_target();
  return is_kernel ? run_or_emit(options, kernel, devices, target)
                   : run_or_emit(options, program, devices, target);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  std::vector<std::string> names;
  std::string says = "print a stage of each schedule instead of running:";
  for (const Stage& stage : emit_stages()) {
    names.push_back(stage.name);
    says += fmt::format("\n{}: {}", stage.name, stage.says);
  }
  app.add_option("FILE", options->program, "a program (.tp) or a kernel (.uop)")->required();
  app.add_option("--emit", options->emit, says)->type_name("STAGE")->check(CLI::IsMember(names));
  app.add_option("--format", options->format, "text, or dot for Graphviz")
      ->check(CLI::IsMember({"text", "dot"}));
  app.add_option("--repeat", options->repeat, "run the program so many times")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  add_opts(app, options->opts);
  add_device_options(app, options->devices);
  add_switches(app, options->switches);
  return [options] {
    const Result<runtime::KernelLists> lists = runtime::lists_from_text(options->opts);
    if (!lists.ok()) {
      fmt::print(stderr, "assay run: --opts: {}\n", lists.error().message);
      return kUsage;
    }
    options->lists = lists.value();
    return run(*options);
  };
}

}  // namespace

const Command& run_command() {
  static constexpr Command kCommand = {"run", "run one program or kernel, or print what it becomes",
                                       declare};
  return kCommand;
}

}  // namespace assay::fuzz
