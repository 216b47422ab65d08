// The program that assay_rules() makes: `assay prove` for the rules of a team outside this tree.
#include <cstdio>
#include <exception>
#include <vector>

#include <CLI/CLI.hpp>

#include "fuzz/commands/prove.h"

// The team's rules: a function of its own sources.
const assay::uop::RuleSet& my_rules();

namespace {

int prove_own(int argc, char** argv) {
  CLI::App app("Proves or refutes each rewrite rule.");
  const std::vector<const assay::uop::RuleSet*> sets = {&my_rules()};
  const auto run = assay::fuzz::declare_prove(app, sets);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? assay::fuzz::kClean : assay::fuzz::kUsage;
  }
  return run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return prove_own(argc, argv);
  } catch (const std::exception& e) {  // of libraries
    std::fprintf(stderr, "%s\n", e.what());
    return assay::fuzz::kEnvironment;
  }
}
