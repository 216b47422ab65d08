#include "engine/uop/simplify.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/uop/prefix.h"
#include "engine/uop/rules/rules.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/index_lines.h"
#include "fuzz/commands/programs.h"

namespace assay::fuzz {
namespace {

struct Options {
  std::string expression;
  std::vector<std::string> ranges;
  std::string jsonl;
  bool trace = false;
  uop::Switches switches;
};

// NAME=LO..HI
Result<uop::Ref> range_from_text(uop::Graph& g, const std::string& text) {
  const size_t equals = text.find('=');
  const size_t dots = text.find("..", equals == std::string::npos ? 0 : equals);
  const Error error = {fmt::format("'{}' is not NAME=LO..HI", text), 0, 0};
  if (equals == std::string::npos || equals == 0 || dots == std::string::npos) return error;
  const auto lo = uop::value_from_text(
      uop::Index, std::string_view(text).substr(equals + 1, dots - equals - 1));
  const auto hi = uop::value_from_text(uop::Index, std::string_view(text).substr(dots + 2));
  if (!lo || !hi) return error;
  if (uop::as_int(*hi) < uop::as_int(*lo)) {
    return Error{fmt::format("'{}' is an empty range", text), 0, 0};
  }
  return g.variable(std::string_view(text).substr(0, equals), *lo, *hi);
}

Result<uop::Leaves> leaves_from_ranges(uop::Graph& g, const std::vector<std::string>& ranges) {
  uop::Leaves leaves;
  for (const std::string& text : ranges) {
    ASSAY_TRY(variable, range_from_text(g, text));
    if (!leaves.emplace(variable->arg.name(), variable).second) {
      return Error{fmt::format("{} has two ranges", variable->arg.name()), 0, 0};
    }
  }
  return leaves;
}

std::string shown(uop::Graph& g, uop::Ref u) {
  const Result<std::string> text = uop::to_prefix(g, u);
  return text.ok() ? text.value() : fmt::format("<{}>", text.error().message);
}

// Prints each firing as it happens.
class Trace : public uop::Watch {
 public:
  void seen(const uop::RuleSeen& s) override {
    fmt::print("# {} {}: {} => {}\n", s.firing, uop::full_name(s.set, s.rule),
               shown(s.graph, s.before), shown(s.graph, s.after));
  }
  using uop::Watch::seen;
};

ExitCode fail(const Error& error) {
  fmt::print(stderr, "assay simplify: {}\n", to_string(error));
  return kUsage;
}

ExitCode simplify_expression(const Options& options) {
  uop::Graph g;
  const Result<uop::Leaves> leaves = leaves_from_ranges(g, options.ranges);
  if (!leaves.ok()) return fail(leaves.error());
  const Result<uop::Ref> term = uop::from_prefix(g, options.expression, leaves.value());
  if (!term.ok()) return fail(term.error());
  Trace trace;
  uop::Run run(g, options.switches, options.trace ? &trace : nullptr);
  const Result<uop::Ref> simple = uop::simplify(run, term.value());
  if (!simple.ok()) {
    fmt::print(stderr, "assay simplify: {}\n", to_string(simple.error()));
    return kFinding;
  }
  const Result<std::string> text = uop::to_prefix(g, simple.value());
  if (!text.ok()) return fail(text.error());
  fmt::print("{}\n", text.value());
  return kClean;
}

ExitCode simplify_lines(const Options& options) {
  std::ifstream file;
  if (options.jsonl != "-") {
    file.open(options.jsonl);
    if (!file) {
      fmt::print(stderr, "assay simplify: {} cannot be read\n", options.jsonl);
      return kEnvironment;
    }
  }
  std::istream& in = options.jsonl == "-" ? std::cin : file;
  std::string line;
  for (int number = 1; std::getline(in, line); number++) {
    const Result<std::string> simple = simplify_index_line(line, options.switches);
    if (!simple.ok()) {
      std::fflush(stdout);
      const Error error = {simple.error().message, number, std::max(simple.error().column, 1)};
      fmt::print(stderr, "assay simplify: {}:{}\n", options.jsonl, to_string(error));
      return kUsage;
    }
    fmt::print("{}\n", simple.value());
  }
  if (in.bad()) {
    fmt::print(stderr, "assay simplify: {} cannot be read\n", options.jsonl);
    return kEnvironment;
  }
  return kClean;
}

ExitCode simplify(const Options& options) {
  if (options.expression.empty() == options.jsonl.empty()) {
    fmt::print(stderr, "assay simplify: give an expression or --jsonl FILE, and not both\n");
    return kUsage;
  }
  if (const auto unknown = options.switches.unknown_rule(uop::all_rules())) {
    fmt::print(stderr, "assay simplify: no rule is named '{}'; see assay rules\n", *unknown);
    return kUsage;
  }
  return options.jsonl.empty() ? simplify_expression(options) : simplify_lines(options);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option(
      "EXPR", options->expression,
      "a term in prefix text over index variables, as in '(+ (* (// r0 4) 4) (% r0 4))'");
  app.add_option("--range", options->ranges,
                 "the values of a variable, both ends included: r0=0..7")
      ->type_name("NAME=LO..HI")
      ->allow_extra_args(false);
  app.add_option(
         "--jsonl", options->jsonl,
         "index expressions, a JSON object a line with \"max\", \"index\" and, for a gated one, "
         "\"valid\"; prints \"index\", \"ops\", \"valid\", \"valid_ops\". - is standard input")
      ->type_name("FILE");
  app.add_flag("--trace", options->trace,
               "print each rule that fires, with the term before and after")
      ->excludes("--jsonl");
  add_switches(app, options->switches);
  return [options] { return simplify(*options); };
}

}  // namespace

const Command& simplify_command() {
  static constexpr Command kCommand = {"simplify", "simplify an index expression", declare};
  return kCommand;
}

}  // namespace assay::fuzz
