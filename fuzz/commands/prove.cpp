#include "fuzz/commands/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/runtime/rules.h"
#include "fuzz/commands/in_order.h"
#include "fuzz/commands/programs.h"
#include "fuzz/commands/proof_options.h"
#include "oracles/workgroup/sim.h"
#include "props/firings/firings.h"
#include "props/firings/termination.h"
#include "props/rules/prove_table.h"
#include "props/rules/rule_text.h"

namespace assay::fuzz {
namespace {

using props::TableRow;
using RuleSets = std::span<const uop::RuleSet* const>;

struct ProveOptions {
  std::string rule, set, type;
  std::vector<std::string> texts;  // of --try
  std::string file;
  std::string graphs = "corpus/rules";
  bool all = false;
  bool quiet = false;
  ProofOptions proof;
  std::vector<std::string> saved;  // what `graphs` holds, as texts
};

ExitCode usage_error(const std::string& why) {
  fmt::print(stderr, "assay prove: {}\n", why);
  return kUsage;
}

// Judges rows, with a prover and tables of its own.
class RowWorker {
 public:
  RowWorker(std::vector<TableRow>& rows, const ProveOptions& options,
            const props::TableOptions& table, QuestionTotals& totals, std::mutex& mutex)
      : rows_(rows),
        options_(options),
        table_(table),
        totals_(totals),
        mutex_(mutex),
        prover_(std::make_unique<smt::Prover>(options.proof.prover_options())),
        tables_(std::make_unique<smt::Tables>()) {}
  RowWorker(RowWorker&&) = default;
  ~RowWorker() {
    if (prover_ == nullptr) return;
    const std::lock_guard lock(mutex_);
    totals_.add(*prover_);
  }

  TableRow operator()(size_t i) {
    const auto widths = options_.all ? props::Widths::All : props::Widths::Commit;
    props::judge_row(rows_[i], table_, {*prover_, *tables_, widths, options_.proof.seed});
    return rows_[i];
  }

 private:
  std::vector<TableRow>& rows_;
  const ProveOptions& options_;
  const props::TableOptions& table_;
  QuestionTotals& totals_;
  std::mutex& mutex_;
  std::unique_ptr<smt::Prover> prover_;
  std::unique_ptr<smt::Tables> tables_;
};

// What all firings of a rule together are, as one verdict.
props::RuleProof proof_of(const props::Checked& c) {
  std::string methods;
  for (const auto& [method, n] : c.by_method) {
    methods += fmt::format("{}{} {}", methods.empty() ? "" : ", ", method, n);
  }
  for (const auto& [cause, n] : c.by_cause) methods += fmt::format(", unknown ({}) {}", cause, n);
  return {c.verdict, methods};
}

// Sets that rewrite together, and whether they come to an end.
struct Ending {
  std::string name;
  props::Checked checked;
};

// Judges them, with a prover of its own.
class EndingWorker {
 public:
  EndingWorker(const std::vector<props::Applied>& applied, const ProveOptions& options)
      : applied_(applied),
        options_(options),
        prover_(std::make_unique<smt::Prover>(options.proof.prover_options())) {}
  Ending operator()(size_t i) {
    props::Context context = {*prover_, workgroup::sim_target(), options_.proof.seed};
    return {applied_[i].name, props::check_termination(applied_[i].sets, context, options_.saved)};
  }

 private:
  const std::vector<props::Applied>& applied_;
  const ProveOptions& options_;
  std::unique_ptr<smt::Prover> prover_;
};

// A failure as files: the rule at its type, which --file reads.
Result<bool> write_row(const ProveOptions& options, const TableRow& row) {
  if (row.proof.verdict.answer != props::Answer::Fail) return true;
  props::Checked checked;
  checked.evidence.push_back({"rule.txt", props::evidence_text(row)});
  const std::string name = fmt::format("{}.{}", uop::full_name(*row.set, *row.rule),
                                       row.over ? uop::to_text(*row.over) : "firings");
  return write_evidence(options.proof, name, checked);
}

// Counts what decided a rule: one method, or what proof_of() says of many firings.
void count_methods(std::string_view methods, reports::ProofRecord& r) {
  constexpr std::string_view kUnknown = "unknown (";
  while (!methods.empty()) {
    const size_t end = std::min(methods.find(", "), methods.size());
    std::string_view name = methods.substr(0, end);
    methods.remove_prefix(std::min(end + 2, methods.size()));
    // Alone it is the method of one question, or why that is unknown.
    int64_t n = 1;
    bool is_unknown = r.answer == "unknown";
    const size_t space = name.rfind(' ');
    if (space != name.npos) {
      const char* const last = name.data() + name.size();
      const auto [stop, trouble] = std::from_chars(name.data() + space + 1, last, n);
      if (trouble == std::errc() && stop == last) {
        name = name.substr(0, space);
        is_unknown = name.starts_with(kUnknown);
        if (is_unknown) name = name.substr(kUnknown.size(), name.size() - kUnknown.size() - 1);
      }
    }
    r.obligations += n;
    (is_unknown ? r.causes : r.methods)[std::string(name)] += n;
  }
}

// What the ledger of a report holds of a rule.
reports::Record record_of(const TableRow& row) {
  reports::ProofRecord r;
  r.kind = "rule";
  r.name = fmt::format("{}{}", uop::full_name(*row.set, *row.rule),
                       row.over ? fmt::format(" {}", uop::to_text(*row.over)) : "");
  const oracles::Verdict& v = row.proof.verdict;
  r.answer = row.is_listed ? "listed" : to_text(v.answer);
  r.strength = to_text(v.strength);
  r.evidence = v.evidence;
  count_methods(row.proof.method, r);
  for (const auto& [cause, n] : r.causes) r.unknown += n;
  return r;
}

// Whether rules that are applied together come to an end: of the engine's own sets as passes apply
// them, of others each by itself.
void prove_endings(RuleSets sets, const ProveOptions& options, props::TableCounts& counts,
                   std::vector<reports::Record>& records) {
  std::vector<props::Applied> applied;
  const auto all = runtime::all_rules();
  if (sets.data() == all.data()) {
    applied = props::applied_together();
  } else {
    for (const uop::RuleSet* set : sets) applied.push_back({std::string(set->name()), {set}});
  }
  in_order<Ending>(
      applied.size(), options.proof.threads(), [&] { return EndingWorker(applied, options); },
      [&](size_t, const Ending& e) {
        const oracles::Verdict& v = e.checked.verdict;
        const std::string_view answer = to_text(v.answer);
        counts.passed += v.answer == props::Answer::Pass ? 1 : 0;
        counts.failed += v.answer == props::Answer::Fail ? 1 : 0;
        counts.unknown += v.answer == props::Answer::Unknown ? 1 : 0;
        reports::ProofRecord record;
        record.kind = "termination";
        record.name = fmt::format("{} comes to an end", e.name);
        record.answer = answer;
        record.strength = to_text(v.strength);
        record.evidence = v.evidence;
        record.methods = e.checked.by_method;
        record.obligations = e.checked.obligations;
        record.unknown = e.checked.unknown;
        records.emplace_back(record);
        if (options.quiet && v.answer == props::Answer::Pass) return;
        fmt::print("{} comes to an end: {} {}\n", e.name, answer, proof_of(e.checked).method);
        if (v.answer != props::Answer::Pass) fmt::print("  {}\n", v.evidence);
      });
}

ExitCode prove_sets(RuleSets sets, const ProveOptions& options, const props::TableOptions& table) {
  std::vector<TableRow> rows = props::table_rows(sets, table);
  if (rows.empty()) return usage_error("no rule is so named, or none has that type");
  QuestionTotals totals;
  std::mutex mutex;
  props::TableCounts counts;
  std::vector<reports::Record> records;
  ExitCode trouble = kClean;
  const auto note = [&](const Result<bool>& written) {
    if (written.ok()) return;
    fmt::print(stderr, "assay prove: {}\n", to_string(written.error()));
    trouble = kEnvironment;
  };
  const auto start = std::chrono::steady_clock::now();
  in_order<TableRow>(
      rows.size(), options.proof.threads(),
      [&] { return RowWorker(rows, options, table, totals, mutex); },
      [&](size_t, const TableRow& row) {
        counts.add(row);
        const bool is_quiet = row.is_listed || row.proof.verdict.answer == props::Answer::Pass;
        if (!options.quiet || !is_quiet) fmt::print("{}\n", props::row_text(row));
        records.push_back(record_of(row));
        note(write_row(options, row));
      });
  const bool is_whole =
      options.rule.empty() && options.set.empty() && options.type.empty() && options.texts.empty();
  if (is_whole && options.file.empty()) prove_endings(sets, options, counts, records);
  note(write_records(options.proof, records));
  fmt::print("{}\n", props::counts_text(counts));
  totals.print();
  for (const std::string& text : totals.disagreements()) {
    fmt::print("methods disagree:\n{}\n", text);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{:.1f} s\n", seconds.count());
  if (trouble != kClean) return trouble;
  if (counts.failed > 0 || !totals.disagreements().empty()) return kFinding;
  return options.proof.strict && counts.unknown > 0 ? kUnknown : kClean;
}

// Rules from text, as a set named "try".
Result<std::vector<std::unique_ptr<props::TextRule>>> rules_from(const ProveOptions& options) {
  std::vector<std::unique_ptr<props::TextRule>> rules;
  for (const std::string& text : options.texts) {
    ASSAY_TRY(rule, props::parse_rule(text));
    rules.push_back(std::move(rule));
  }
  if (options.file.empty()) return rules;
  std::ifstream in(options.file);
  if (!in) return Error{fmt::format("{} cannot be read", options.file)};
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    number++;
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    auto rule = props::parse_rule(line);
    if (!rule.ok()) return Error{rule.error().message, number, rule.error().column};
    rules.push_back(std::move(rule).value());
  }
  return rules;
}

ExitCode prove_texts(const ProveOptions& options, const props::TableOptions& table) {
  const auto parsed = rules_from(options);
  if (!parsed.ok()) return usage_error(to_string(parsed.error()));
  std::vector<uop::Rule> rules;
  for (const auto& made : parsed.value()) rules.push_back(made->rule);
  if (rules.empty()) return usage_error("there is no rule");
  const uop::RuleSet set("try", rules);
  const uop::RuleSet* sets[] = {&set};
  return prove_sets(sets, options, table);
}

// Rules with `by` are judged firing by firing.
props::TableOptions table_options(const ProveOptions& options) {
  props::TableOptions table;
  table.rule = options.rule;
  table.set = options.set;
  table.by_firings = [&options](const uop::RuleSet& set, const uop::Rule& rule,
                                const props::RuleJudge& judge) -> std::optional<props::RuleProof> {
    props::Context context = {judge.prover, workgroup::sim_target(), judge.seed};
    return proof_of(props::check_firings(set, rule, context, options.saved));
  };
  return table;
}

// The graphs of a folder, in the order of their names; none where there is no such folder.
Result<std::vector<std::string>> saved_graphs(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".uop") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const std::string& path : paths) {
    ASSAY_TRY(text, read_file(path));
    texts.push_back(std::move(text));
  }
  return texts;
}

ExitCode prove(RuleSets sets, ProveOptions& options) {
  Result<std::vector<std::string>> saved = saved_graphs(options.graphs);
  if (!saved.ok()) return usage_error(saved.error().message);
  options.saved = std::move(saved).value();
  props::TableOptions table = table_options(options);
  if (!options.type.empty()) {
    table.type = uop::dtype_from_text(options.type);
    if (!table.type) return usage_error(fmt::format("no type is named '{}'", options.type));
  }
  if (!options.texts.empty() || !options.file.empty()) return prove_texts(options, table);
  const auto has_name = [&](const uop::RuleSet* set) { return set->name() == options.set; };
  if (!options.set.empty() && std::none_of(sets.begin(), sets.end(), has_name)) {
    return usage_error(fmt::format("no set is named '{}'; see assay rules", options.set));
  }
  return prove_sets(sets, options, table);
}

std::function<ExitCode()> declare(CLI::App& app) {
  return declare_prove(app, runtime::all_rules());
}

}  // namespace

std::function<ExitCode()> declare_prove(CLI::App& app, RuleSets sets) {
  auto options = std::make_shared<ProveOptions>();
  app.add_option("--rule", options->rule, "only this rule: set.rule, or its name alone")
      ->type_name("NAME");
  app.add_option("--set", options->set, "only the rules of this set")->type_name("NAME");
  app.add_option("--type", options->type, "only at this type")->type_name("TYPE");
  app.add_flag("--all", options->all,
               "all widths: also floats of 16 bits and more by solver, which takes long");
  app.add_option("--try", options->texts,
                 "judge this rule instead: 'match => replacement : types when guard'; again for "
                 "others")
      ->type_name("RULE")
      ->allow_extra_args(false);
  app.add_option("--file", options->file, "judge the rules of this file, one a line")
      ->type_name("FILE");
  app.add_option("--graphs", options->graphs,
                 "saved graphs (.uop) on which rules that are functions fire as well")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag("--quiet", options->quiet, "print only what fails or is unknown, and the summary");
  add_proof_options(app, options->proof);
  return [options, sets] { return prove(sets, *options); };
}

const Command& prove_command() {
  static constexpr Command kCommand = {
      "prove", "prove or refute each rewrite rule, of the table or from text", declare};
  return kCommand;
}

}  // namespace assay::fuzz
