#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/heap.h"
#include "fuzz/commands/command.h"

namespace assay::fuzz {
namespace {

constexpr const char* kExitCodes =
    "exit status: 0 clean, 1 a finding, 2 usage or malformed input, 3 environment or device,\n"
    "             4 nothing failed and something is unknown, 130 interrupted";

const std::vector<const Command*>& commands() {
  static const std::vector<const Command*> table = {
      &bench_command(),    &bisect_command(), &check_command(),  &devices_command(),
      &fuzz_command(),     &import_command(), &prove_command(),  &report_command(),
      &rules_command(),    &run_command(),    &score_command(),  &shrink_command(),
      &simplify_command(), &trial_command(),  &triage_command(), &verify_command(),
      &worker_command()};
  return table;
}

struct Declared {
  const CLI::App* app;
  std::function<ExitCode()> run;
};

// What was printed counts as done only when it has been written.
ExitCode run(const Declared& command) {
  const ExitCode code = command.run();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fputs("assay: standard output cannot be written\n", stderr);
  return kEnvironment;
}

bool is_command(std::string_view name) {
  return std::any_of(commands().begin(), commands().end(),
                     [&](const Command* command) { return command->name == name; });
}

int parse_and_run(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-' && !is_command(argv[1])) {
    fmt::print(stderr, "assay: no command is named '{}'; see assay --help\n", argv[1]);
    return kUsage;
  }
  CLI::App app("Assay: a tensor compiler that can be proved and attacked.", "assay");
  app.footer(kExitCodes);
  app.require_subcommand(1);
  std::vector<Declared> declared;
  for (const Command* command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command->name), std::string(command->says));
    sub->footer(kExitCodes);
    declared.push_back({sub, command->declare(*sub)});
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kClean : kUsage;
  }
  for (const Declared& d : declared) {
    if (d.app->parsed()) return run(d);
  }
  return kUsage;
}

}  // namespace
}  // namespace assay::fuzz

int main(int argc, char** argv) {
  assay::keep_memory();
  try {
    return assay::fuzz::parse_and_run(argc, argv);
  } catch (const std::exception& e) {  // of libraries: fmt's when it cannot write, no memory
    std::fprintf(stderr, "assay: %s\n", e.what());
    return assay::fuzz::kEnvironment;
  }
}
