#include "fuzz/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/programs.h"
#include "fuzz/fault/fault.h"
#include "fuzz/fault/mutants.h"
#include "fuzz/triage.h"
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

std::optional<Fault> fault_of(const std::string& name) {
  std::vector<Fault> all(stage_faults().begin(), stage_faults().end());
  for (Fault& f : rule_faults()) all.push_back(std::move(f));
  const auto at = std::ranges::find(all, name, &Fault::name);
  return at == all.end() ? std::nullopt : std::optional(*at);
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
  std::unique_ptr<Planted> planted;
  uop::Switches switches = options.switches;
  if (!options.fault.empty()) {
    const std::optional<Fault> fault = fault_of(options.fault);
    if (!fault) return fail(fmt::format("no fault is named '{}'", options.fault), kUsage);
    planted = std::make_unique<Planted>(*fault);
    switches.substitutes = planted->switches().substitutes;
  }
  TrialOptions how;
  how.kinds = device_kinds();
  how.properties = props::every_property();
  Trial trial(how);
  const Outcome outcome = trial.run(c.value(), switches, planted.get());
  if (!outcome.malformed.empty() && outcome.findings.empty()) {
    return fail(fmt::format("{}: {}", options.file, outcome.malformed), kUsage);
  }
  if (outcome.findings.empty()) {
    fmt::print("nothing fails\n");
    return kClean;
  }
  const Finding& finding = outcome.findings[0];
  print(finding, bisect(c.value(), finding, device_kinds(), switches, planted.get()));
  return kFinding;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file, "a program that fails; its comments say device and opts")
      ->required();
  app.add_option("--fault", options->fault, "plant this fault (assay score --list)")
      ->type_name("NAME");
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
