#include "fuzz/blame/bisect.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fuzz/blame/investigate.h"
#include "fuzz/blame/triage.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/fault_option.h"
#include "fuzz/commands/programs.h"
#include "props/property.h"

namespace assay::fuzz {
namespace {

struct Options {
  std::string file;
  std::string fault;
  uop::Switches switches;
};

ExitCode fail(const std::string& why, ExitCode code) {
  fmt::print(stderr, "assay bisect: {}\n", why);
  return code;
}

void print(const Finding& finding, const Blame& blame) {
  fmt::print("FAIL {}\n", finding.evidence);
  fmt::print("judge   {} at {}\n", finding.judge, finding.stage);
  fmt::print("stage   {}\n", blame.stage);
  if (!blame.pass.empty()) fmt::print("pass    {}\n", blame.pass);
  if (blame.kernel >= 0) fmt::print("kernel  {}\n", blame.kernel);
  if (!blame.rule.empty()) {
    fmt::print("rule    {}, firing {} of the pass\n", blame.rule, blame.firing);
  }
  fmt::print("title   {}\n", blame.title);
  fmt::print("cause   {}\n", to_text(cause_of(finding, blame)));
  fmt::print("\n{}\n", blame.evidence);
}

ExitCode run_bisect(const Options& options) {
  const Result<std::string> text = read_file(options.file);
  if (!text.ok()) return fail(text.error().message, kEnvironment);
  const Result<Case> c = case_from_text(text.value());
  if (!c.ok()) return fail(fmt::format("{}: {}", options.file, to_string(c.error())), kUsage);
  uop::Switches switches = options.switches;
  const Result<std::unique_ptr<Planted>> fault = plant(options.fault, switches);
  if (!fault.ok()) return fail(fault.error().message, kUsage);
  Planted* const planted = fault.value().get();
  TrialOptions how;
  how.kinds = device_kinds();
  how.properties = props::every_property();
  Trial trial(how);
  const Outcome outcome = trial.run(c.value(), switches, planted);
  if (!outcome.malformed.empty() && outcome.findings.empty()) {
    return fail(fmt::format("{}: {}", options.file, outcome.malformed), kUsage);
  }
  if (outcome.findings.empty()) {
    fmt::print("nothing fails\n");
    return kClean;
  }
  const Finding& finding = outcome.findings[0];
  print(finding, blame_of(c.value(), finding, trial, {.switches = switches, .watch = planted}));
  return kFinding;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file,
                 "a case that fails (.tp, or .uop of a kernel or of terms); its comments say "
                 "device and opts")
      ->required();
  add_fault(app, options->fault);
  add_switches(app, options->switches);
  return [options] { return run_bisect(*options); };
}

}  // namespace

const Command& bisect_command() {
  static constexpr Command kCommand = {
      "bisect", "find the stage, the pass and the firing at which a program goes wrong", declare};
  return kCommand;
}

}  // namespace assay::fuzz
