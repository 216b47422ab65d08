#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/schedule/listing.h"
#include "engine/schedule/rules.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/session.h"
#include "engine/uop/dot.h"
#include "engine/uop/text.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/programs.h"
#include "oracles/check.h"

namespace assay::fuzz {
namespace {

using schedule::Schedule;
using uop::Graph;

struct Options {
  std::string program;
  std::string emit;
  std::string format = "text";
  uop::Switches switches;
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

// Runs the program in the interpreter and says what came of it.
ExitCode execute(const Options& options, const tensor::Program& program) {
  oracles::CheckOptions how;
  how.schedule.switches = options.switches;
  how.keep_values = true;
  const oracles::Checked checked = oracles::check(program, how);
  for (const oracles::Judged& j : checked.judged) {
    if (!j.text.empty()) fmt::print("{} = {}\n", j.value, j.text);
  }
  fmt::print("{} schedules, {} kernels, {} copies, {} bytes planned\n", checked.schedules,
             checked.kernels, checked.copies, checked.planned_bytes);
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

ExitCode run(const Options& options) {
  if (const auto unknown = options.switches.unknown_rule(schedule::all_rules())) {
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
  for (const Stage& stage : kStages) {
    if (stage.name == options.emit) return emit(options, program.value(), stage);
  }
  return execute(options, program.value());
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  std::vector<std::string> names;
  std::string says = "print a stage of each schedule instead of running:";
  for (const Stage& stage : kStages) {
    names.emplace_back(stage.name);
    says += fmt::format("\n{}: {}", stage.name, stage.says);
  }
  app.add_option("PROGRAM", options->program, "a .tp file")->required();
  app.add_option("--emit", options->emit, says)->type_name("STAGE")->check(CLI::IsMember(names));
  app.add_option("--format", options->format, "text, or dot for Graphviz")
      ->check(CLI::IsMember({"text", "dot"}));
  add_switches(app, options->switches);
  return [options] { return run(*options); };
}

}  // namespace

const Command& run_command() {
  static constexpr Command kCommand = {"run", "run one program, or print what it becomes", declare};
  return kCommand;
}

}  // namespace assay::fuzz
