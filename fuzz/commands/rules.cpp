#include "engine/runtime/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "fuzz/commands/command.h"

namespace assay::fuzz {
namespace {

void print_rule(const uop::RuleSet& set, const uop::Rule& rule) {
  fmt::print("{}\n", uop::full_name(set, rule));
  fmt::print("  over {}, {}\n", uop::to_text(rule.over),
             rule.claim == uop::Claim::Exact ? "exact" : "over the reals");
  if (rule.by != nullptr) {
    fmt::print("  {}\n", rule.says);
    return;
  }
  fmt::print("  {} => {}\n", uop::to_text(rule.match), uop::to_text(rule.replace));
  if (!rule.when.empty()) fmt::print("  when {}\n", uop::to_text(rule.when));
}

ExitCode print_rules(const std::string& only) {
  const bool is_known = std::ranges::any_of(
      runtime::all_rules(), [&](const uop::RuleSet* set) { return set->name() == only; });
  if (!only.empty() && !is_known) {
    std::string names;
    for (const uop::RuleSet* set : runtime::all_rules()) names += fmt::format(" {}", set->name());
    fmt::print(stderr, "assay rules: no set is named '{}'; there are{}\n", only, names);
    return kUsage;
  }
  size_t rules = 0;
  size_t sets = 0;
  for (const uop::RuleSet* set : runtime::all_rules()) {
    if (!only.empty() && set->name() != only) continue;
    for (const uop::Rule& rule : set->rules()) print_rule(*set, rule);
    rules += set->rules().size();
    sets++;
  }
  fmt::print("{} rules in {} sets\n", rules, sets);
  return kClean;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto only = std::make_shared<std::string>();
  app.add_option("--set", *only, "only the rules of this set");
  return [only] { return print_rules(*only); };
}

}  // namespace

const Command& rules_command() {
  static constexpr Command kCommand = {"rules", "list every rewrite rule with its contract",
                                       declare};
  return kCommand;
}

}  // namespace assay::fuzz
