#include "fuzz/trial.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/programs.h"
#include "fuzz/trial_child.h"

namespace assay::fuzz {
namespace {

struct Options {
  std::vector<std::string> files;
  uop::Switches switches;
  bool serves = false;
  std::string log;
  int64_t limit_ms = 0;
};

TrialOptions trial_options(const Options& options) {
  TrialOptions how;
  how.kinds = device_kinds();
  how.limit_ms = options.limit_ms;
  how.properties = props::every_property();
  return how;
}

ExitCode serve(const Options& options) {
  if (!options.log.empty() && std::freopen(options.log.c_str(), "w", stderr) == nullptr) {
    return kEnvironment;
  }
  Trial trial(trial_options(options));
  return serve_trials(trial) == 0 ? kClean : kUsage;
}

ExitCode worse(ExitCode a, ExitCode b) {
  static constexpr ExitCode kOrder[] = {kEnvironment, kFinding, kUsage, kUnknown};
  for (const ExitCode code : kOrder) {
    if (a == code || b == code) return code;
  }
  return kClean;
}

ExitCode print(const std::string& path, const Outcome& o) {
  if (!o.malformed.empty()) {
    fmt::print("malformed {}:{}\n", path, o.malformed);
    return kUsage;
  }
  for (const Finding& f : o.findings) {
    fmt::print("FAIL {}: {} at {} ({}): {}\n", path, f.judge, f.stage, f.shape, f.evidence);
  }
  for (const auto& [cause, n] : o.unknown) fmt::print("unknown {}: {} {}\n", path, n, cause);
  if (!o.findings.empty()) return kFinding;
  if (!o.unknown.empty()) return kUnknown;
  fmt::print("pass {}: {} kernels, {} elements, {} obligations\n", path, o.kernels, o.elements,
             o.obligations);
  return kClean;
}

ExitCode try_files(const Options& options) {
  const Result<std::vector<std::string>> files = program_files(options.files);
  if (!files.ok()) {
    fmt::print(stderr, "assay trial: {}\n", files.error().message);
    return kEnvironment;
  }
  Trial trial(trial_options(options));
  ExitCode code = kClean;
  for (const std::string& path : files.value()) {
    if (is_kernel_file(path)) continue;
    const Result<std::string> text = read_file(path);
    const Result<Case> c = text.ok() ? case_from_text(text.value()) : Result<Case>(text.error());
    if (!c.ok()) {
      fmt::print("malformed {}:{}\n", path, to_string(c.error()));
      code = worse(code, text.ok() ? kUsage : kEnvironment);
      continue;
    }
    code = worse(code, print(path, trial.run(c.value(), options.switches)));
  }
  return code;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::Option* files =
      app.add_option("FILE", options->files,
                     "cases (.tp; the first comments may name device, profile, opts, seed)");
  CLI::Option* serves =
      app.add_flag("--serve", options->serves, "serve trials on standard input and output");
  files->excludes(serves);
  app.add_option("--log", options->log, "with --serve: where messages go")->needs(serves);
  app.add_option("--time-limit", options->limit_ms, "of what a device is given at once, in ms")
      ->type_name("MS");
  add_switches(app, options->switches);
  app.callback([options] {
    if (options->files.empty() && !options->serves) throw CLI::RequiredError("FILE or --serve");
  });
  return [options] { return options->serves ? serve(*options) : try_files(*options); };
}

}  // namespace

const Command& trial_command() {
  static constexpr Command kCommand = {
      "trial", "take saved cases through every judge, as a campaign does", declare};
  return kCommand;
}

}  // namespace assay::fuzz
