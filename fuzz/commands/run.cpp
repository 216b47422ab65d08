#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/runtime/executor.h"
#include "engine/runtime/rules.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/session.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/emit.h"
#include "fuzz/commands/programs.h"
#include "oracles/check.h"
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
  int repeat = 1;
};

ExitCode fail(const std::string& path, const Error& error, ExitCode code) {
  fmt::print(stderr, "assay run: {}:{}\n", path, to_string(error));
  return code;
}

// Schedules all that the program forces and prints one stage of each schedule.
ExitCode emit(const Options& options, const tensor::Program& program, const Stage& stage,
              const uop::Target& target) {
  tensor::Session session;
  tensor::Builder builder(session, program);
  const std::vector<tensor::Output> outputs = tensor::outputs(program);
  size_t next = 0;
  for (size_t k = 0; k <= program.statements.size(); ++k) {
    if (k < program.statements.size()) {
      const Result<bool> done = builder.step(k);
      if (!done.ok()) return fail(options.program, done.error(), kUsage);
    }
    std::vector<const tensor::Tensor*> tensors;
    for (; next < outputs.size() && static_cast<size_t>(outputs[next].statement) == k; ++next) {
      tensors.push_back(&builder.tensor(outputs[next].value));
    }
    if (!tensors.empty()) {
      schedule::Options how;
      how.switches = options.switches;
      const Result<Schedule> made = schedule::linear_with_vars(session, tensors, how);
      if (!made.ok()) return fail(options.program, made.error(), kFinding);
      if (made.value().call != nullptr) {
        const Emission emission = {session.graph(), made.value(), options.switches, target,
                                   options.format == "dot" ? Format::Dot : Format::Text};
        const Result<std::string> text = stage.text(emission);
        if (!text.ok()) return fail(options.program, text.error(), kFinding);
        fmt::print("{}", text.value());
      }
    }
    if (k < program.statements.size()) builder.finish(k);
  }
  return kClean;
}

void print_counts(std::string_view what, const runtime::Counts& c) {
  fmt::print(
      "  {:<10}{:>8} kernels {:>4} copies {:>12} peak bytes {:>5} queue waits {:>4} host waits\n",
      what, c.kernels, c.copies, c.peak_bytes, c.queue_waits, c.host_waits);
}

// What was foreseen of a run on devices, what came of it, and each call.
void print_run(const runtime::Ran& ran) {
  print_counts("predicted", ran.predicted);
  print_counts("actual", ran.actual);
  for (const runtime::CallRun& c : ran.calls) {
    const double us = static_cast<double>(c.end_ns - c.begin_ns) / 1000;
    fmt::print("  {:>4} {:<7} {:>10.1f} us {:>10} bytes {:>12} operations  {} on {}\n", c.call,
               to_text(c.status), us, c.bytes, c.operations, c.is_copy ? "copy" : c.name, c.device);
  }
}

ExitCode judge(const Options& options, const oracles::Checked& checked) {
  if (checked.malformed) {
    fmt::print(stderr, "assay run: {}:{}\n", options.program, checked.refused);
    return kUsage;
  }
  if (checked.verdict.answer == oracles::Answer::Unknown) {
    fmt::print("unknown: {}\n", checked.verdict.evidence);
    return kUnknown;
  }
  const bool passed = checked.verdict.answer == oracles::Answer::Pass;
  fmt::print("{}: {}\n", passed ? "pass" : "FAIL", checked.verdict.evidence);
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
  if (!options.devices.device.empty()) {
    how.executor = &executor;
    how.device = options.devices.device;
  }
  ExitCode code = kClean;
  for (int k = 0; k < options.repeat; ++k) {
    const oracles::Checked checked = oracles::check(program, how);
    for (const oracles::Judged& j : checked.judged) {
      if (!j.text.empty() && k == 0) fmt::print("{} = {}\n", j.value, j.text);
    }
    fmt::print("{} schedules, {} kernels, {} copies, {} bytes planned\n", checked.schedules,
               checked.kernels, checked.copies, checked.planned_bytes);
    for (const runtime::Ran& ran : checked.runs) print_run(ran);
    code = judge(options, checked);
    if (code != kClean) break;
  }
  return code;
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
  const Result<tensor::Program> program = read_program(options.program);
  if (!program.ok()) return fail(options.program, program.error(), kUsage);
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
  if (options.emit.empty()) return execute(options, program.value(), devices);
  const uop::Target* profile = how.value().profile;
  const uop::Target& target = device != nullptr    ? device->target()
                              : profile != nullptr ? *profile
                                                   : workgroup::sim_target();
  for (const Stage& stage : emit_stages()) {
    if (stage.name == options.emit) return emit(options, program.value(), stage, target);
  }
  return kUsage;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  std::vector<std::string> names;
  std::string says = "print a stage of each schedule instead of running:";
  for (const Stage& stage : emit_stages()) {
    names.push_back(stage.name);
    says += fmt::format("\n{}: {}", stage.name, stage.says);
  }
  app.add_option("PROGRAM", options->program, "a .tp file")->required();
  app.add_option("--emit", options->emit, says)->type_name("STAGE")->check(CLI::IsMember(names));
  app.add_option("--format", options->format, "text, or dot for Graphviz")
      ->check(CLI::IsMember({"text", "dot"}));
  app.add_option("--repeat", options->repeat, "run the program so many times")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  add_device_options(app, options->devices);
  add_switches(app, options->switches);
  return [options] { return run(*options); };
}

}  // namespace

const Command& run_command() {
  static constexpr Command kCommand = {"run", "run one program, or print what it becomes", declare};
  return kCommand;
}

}  // namespace assay::fuzz
