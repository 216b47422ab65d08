#include "fuzz/trial/trial.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "fuzz/campaign/serve.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/fault_option.h"
#include "fuzz/commands/programs.h"

namespace assay::fuzz {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string fault;
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
  how.dear_every = 1;
  return how;
}

ExitCode fail(const std::string& why, ExitCode code) {
  fmt::print(stderr, "assay trial: {}\n", why);
  return code;
}

ExitCode serve(const Options& options, const uop::Switches& switches, Planted* planted) {
  if (!options.log.empty() && std::freopen(options.log.c_str(), "w", stderr) == nullptr) {
    return kEnvironment;
  }
  // Whoever asks is interrupted, and ends this process when it likes.
  std::signal(SIGINT, SIG_IGN);
  TrialOptions how = campaign_trial(device_kinds());
  how.limit_ms = options.limit_ms;
  Trial trial(how);
  return serve_trials(trial, switches, planted) == 0 ? kClean : kUsage;
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

ExitCode try_files(const Options& options, const uop::Switches& switches, Planted* planted) {
  const Result<std::vector<std::string>> files = program_files(options.files);
  if (!files.ok()) return fail(files.error().message, kEnvironment);
  Trial trial(trial_options(options));
  ExitCode code = kClean;
  for (const std::string& path : files.value()) {
    const Result<std::string> text = read_file(path);
    // Lists of instructions are for `check`.
    if (text.ok() && text.value().find("uop 1 linear\n") != std::string::npos) continue;
    const Result<Case> c = text.ok() ? case_from_text(text.value()) : Result<Case>(text.error());
    if (!c.ok()) {
      fmt::print("malformed {}:{}\n", path, to_string(c.error()));
      code = worse(code, text.ok() ? kUsage : kEnvironment);
      continue;
    }
    code = worse(code, print(path, trial.run(c.value(), switches, planted)));
  }
  return code;
}

ExitCode run(const Options& options) {
  uop::Switches switches = options.switches;
  const Result<std::unique_ptr<Planted>> fault = plant(options.fault, switches);
  if (!fault.ok()) return fail(fault.error().message, kUsage);
  Planted* const planted = fault.value().get();
  return options.serves ? serve(options, switches, planted) : try_files(options, switches, planted);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::Option* files = app.add_option(
      "FILE", options->files,
      "cases (.tp, or .uop of a kernel or of terms; the first comments may name device, "
      "profile, opts, seed)");
  CLI::Option* serves =
      app.add_flag("--serve", options->serves, "serve trials on standard input and output");
  files->excludes(serves);
  app.add_option("--log", options->log, "with --serve: where messages go")->needs(serves);
  app.add_option("--time-limit", options->limit_ms, "of what a device is given at once, in ms")
      ->type_name("MS");
  add_fault(app, options->fault);
  add_switches(app, options->switches);
  app.callback([options] {
    if (options->files.empty() && !options->serves) throw CLI::RequiredError("FILE or --serve");
  });
  return [options] { return run(*options); };
}

}  // namespace

const Command& trial_command() {
  static constexpr Command kCommand = {
      "trial", "take saved cases through every judge, as a campaign does", declare};
  return kCommand;
}

}  // namespace assay::fuzz
