#include "fuzz/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/codegen/opt.h"
#include "engine/codegen/seen.h"
#include "engine/runtime/rules.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/programs.h"
#include "fuzz/trial.h"

namespace assay::fuzz {
namespace {

struct Options {
  std::string file;
  std::string out;
  uop::Switches switches;
  int64_t trials = ShrinkOptions{}.trials;
  int64_t limit_ms = 0;
};

// The lists that kernels are made with, in the order in which they are lowered.
class ListsSeen : public uop::Watch {
 public:
  using Watch::seen;
  void seen(const codegen::KernelSeen& seen) override {
    const auto opts = codegen::kernel_name(seen.linear).opts;
    std::string list = !opts || opts->empty() || *opts == "NONE" ? "none" : std::string(*opts);
    if (std::ranges::find(lists, list) == lists.end()) lists.push_back(std::move(list));
  }
  std::vector<std::string> lists;
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

ExitCode shrink_case(const Options& options, const Case& failing) {
  TrialOptions how;
  how.kinds = device_kinds();
  how.limit_ms = options.limit_ms;
  how.properties = props::every_property();
  Trial trial(how);
  const Outcome outcome = trial.run(failing, options.switches);
  if (!outcome.malformed.empty()) {
    return fail(fmt::format("{}: {}", options.file, outcome.malformed), kUsage);
  }
  if (outcome.findings.empty()) {
    fmt::print("{}: nothing fails\n", options.file);
    return kClean;
  }
  const Finding& wanted = outcome.findings[0];
  const auto still_fails = [&](const Case& c) {
    const Outcome o = trial.run(c, options.switches);
    return std::ranges::any_of(o.findings, [&](const Finding& f) { return is_same(f, wanted); });
  };
  ShrinkOptions steps;
  steps.trials = options.trials;
  steps.lists = [&](const Case& c) {
    ListsSeen seen;
    trial.run(c, options.switches, &seen);
    return seen.lists;
  };
  const Shrunk shrunk = shrink(failing, still_fails, steps);
  fmt::print(stderr, "{} at {} ({}): {} of {} statements left after {} trials{}\n", wanted.judge,
             wanted.stage, wanted.shape, shrunk.smallest.program.statements.size(),
             failing.program.statements.size(), shrunk.trials,
             shrunk.is_done ? "" : ", which ran out");
  return write(options.out, to_text(shrunk.smallest));
}

ExitCode run_shrink(const Options& options) {
  if (const auto unknown = options.switches.unknown_rule(runtime::all_rules())) {
    return fail(fmt::format("no rule is named '{}'; see assay rules", *unknown), kUsage);
  }
  const Result<std::string> text = read_file(options.file);
  if (!text.ok()) return fail(text.error().message, kEnvironment);
  const Result<Case> c = case_from_text(text.value());
  if (!c.ok()) return fail(fmt::format("{}:{}", options.file, to_string(c.error())), kUsage);
  return shrink_case(options, c.value());
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file,
                 "a case that fails (.tp; the first comments may name device, profile, opts, seed)")
      ->required();
  app.add_option("--out", options->out, "where the smallest case goes; without, it is printed")
      ->type_name("FILE");
  app.add_option("--trials", options->trials, "the most cases that are tried")->type_name("N");
  app.add_option("--time-limit", options->limit_ms, "of what a device is given at once, in ms")
      ->type_name("MS");
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
