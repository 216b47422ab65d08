#include "fuzz/shrink/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/runtime/rules.h"
#include "fuzz/blame/investigate.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/fault_option.h"
#include "fuzz/commands/programs.h"
#include "fuzz/trial/trial.h"

namespace assay::fuzz {
namespace {

struct Options {
  std::string file;
  std::string out;
  std::string fault;
  uop::Switches switches;
  int64_t trials = ShrinkOptions{}.trials;
  int64_t limit_ms = 0;
};

ExitCode fail(const std::string& why, ExitCode code) {
  fmt::print(stderr, "assay shrink: {}\n", why);
  return code;
}

ExitCode write(const std::string& path, const std::string& text) {
  if (path.empty()) {
    fmt::print("{}", text);
    return kFinding;
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return fail(fmt::format("{} cannot be written", path), kEnvironment);
  return kFinding;
}

// Statements of a program, lines of a graph.
int64_t length_of(const Case& c) {
  return c.is_program() ? std::ssize(c.program.statements) : std::ranges::count(c.graph, '\n');
}

ExitCode shrink_case(const Options& options, const Case& failing, const uop::Switches& switches,
                     Planted* planted) {
  TrialOptions how;
  how.kinds = device_kinds();
  how.limit_ms = options.limit_ms;
  how.properties = props::every_property();
  Trial trial(how);
  const Outcome outcome = trial.run(failing, switches, planted);
  if (!outcome.malformed.empty()) {
    return fail(fmt::format("{}: {}", options.file, outcome.malformed), kUsage);
  }
  if (outcome.findings.empty()) {
    fmt::print("{}: nothing fails\n", options.file);
    return kClean;
  }
  const Finding& wanted = outcome.findings[0];
  const Investigated found = investigate(
      failing, wanted, trial, {.trials = options.trials, .switches = switches, .watch = planted});
  fmt::print(stderr, "{} at {} ({}): {} of {} {} left after {} trials{}\n", wanted.judge,
             wanted.stage, wanted.shape, length_of(found.smallest), length_of(failing),
             failing.is_program() ? "statements" : "lines", found.trials,
             found.is_done ? "" : ", which ran out");
  return write(options.out, to_text(found.smallest));
}

ExitCode run_shrink(const Options& options) {
  if (const auto unknown = options.switches.unknown_rule(runtime::all_rules())) {
    return fail(fmt::format("no rule is named '{}'; see assay rules", *unknown), kUsage);
  }
  const Result<std::string> text = read_file(options.file);
  if (!text.ok()) return fail(text.error().message, kEnvironment);
  const Result<Case> c = case_from_text(text.value());
  if (!c.ok()) return fail(fmt::format("{}:{}", options.file, to_string(c.error())), kUsage);
  uop::Switches switches = options.switches;
  const Result<std::unique_ptr<Planted>> fault = plant(options.fault, switches);
  if (!fault.ok()) return fail(fault.error().message, kUsage);
  return shrink_case(options, c.value(), switches, fault.value().get());
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option(
         "FILE", options->file,
         "a case that fails (.tp, or .uop of a kernel or of terms; the first comments may name "
         "device, profile, opts, seed)")
      ->required();
  app.add_option("--out", options->out, "where the smallest case goes; without, it is printed")
      ->type_name("FILE");
  app.add_option("--trials", options->trials, "the most cases that are tried")->type_name("N");
  app.add_option("--time-limit", options->limit_ms, "of what a device is given at once, in ms")
      ->type_name("MS");
  add_fault(app, options->fault);
  add_switches(app, options->switches);
  return [options] { return run_shrink(*options); };
}

}  // namespace

const Command& shrink_command() {
  static constexpr Command kCommand = {
      "shrink", "find the smallest case that fails for the same reason", declare};
  return kCommand;
}

}  // namespace assay::fuzz
