#include "props/rules/prove_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "props/rules/repair.h"
#include "props/rules/rule_text.h"

namespace assay::props {
namespace {

using oracles::Answer;
using oracles::Strength;
using uop::DType;

std::string_view answer_text(Answer answer) {
  switch (answer) {
    case Answer::Pass: return "pass";
    case Answer::Fail: return "fail";
    case Answer::Unknown: return "unknown";
  }
  return "";
}

std::string_view strength_text(Strength strength) {
  switch (strength) {
    case Strength::Sampled: return "sampled";
    case Strength::Exhaustive: return "exhaustive";
    case Strength::Proved: return "proved";
  }
  return "";
}

bool is_asked_for(const uop::RuleSet& set, const uop::Rule& rule, const TableOptions& options) {
  if (!options.set.empty() && set.name() != options.set) return false;
  if (options.type && !rule.over.has(*options.type)) return false;
  return options.rule.empty() || options.rule == rule.name ||
         options.rule == uop::full_name(set, rule);
}

std::vector<TableRow> rows_of(std::span<const uop::RuleSet* const> sets,
                              const TableOptions& options) {
  std::vector<TableRow> rows;
  for (const uop::RuleSet* set : sets) {
    for (const uop::Rule& rule : set->rules()) {
      if (!is_asked_for(*set, rule, options)) continue;
      if (rule.by != nullptr) {
        rows.push_back({set, &rule, std::nullopt, true, {}, ""});
        continue;
      }
      for (int i = 0; i < uop::kDTypeCount; i++) {
        const DType t = DType(i);
        if (!rule.over.has(t) || (options.type && *options.type != t)) continue;
        rows.push_back({set, &rule, t, false, {}, ""});
      }
    }
  }
  return rows;
}

void judge_row(TableRow& row, const TableOptions& options, const RuleJudge& judge) {
  if (row.rule->by != nullptr) {
    if (!options.by_firings) return;
    if (const auto proof = options.by_firings(*row.set, *row.rule, judge)) {
      row.is_listed = false;
      row.proof = *proof;
    }
    return;
  }
  row.proof = prove_rule(*row.rule, *row.over, judge);
  if (row.proof.verdict.answer != Answer::Fail || !options.seeks_guards) return;
  row.missing = missing_guard(*row.rule, *row.over, row.proof, judge).value_or("");
}

// Rows that threads judge, and one waits for in their order.
class Work {
 public:
  Work(std::vector<TableRow>& rows, const TableOptions& options)
      : rows_(rows), options_(options), is_done_(rows.size(), false) {}

  void run() {
    smt::Prover prover(options_.prover);
    smt::Tables tables;
    const RuleJudge judge = {prover, tables, options_.widths, options_.seed};
    for (size_t i = next_++; i < rows_.size(); i = next_++) {
      judge_row(rows_[i], options_, judge);
      const std::lock_guard<std::mutex> lock(mutex_);
      is_done_[i] = true;
      changed_.notify_all();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    add(prover);
  }

  void wait_for(size_t row) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return is_done_[row]; });
  }

  TableSummary summary;

 private:
  void add(const smt::Prover& prover) {
    for (const auto& [kind, s] : prover.statistics()) {
      smt::Statistics& all = summary.questions[kind];
      all.asked += s.asked;
      all.no += s.no;
      all.yes += s.yes;
      all.unknown += s.unknown;
      all.from_cache += s.from_cache;
      all.steps += s.steps;
      all.seconds += s.seconds;
      for (const auto& [method, count] : s.by_method) all.by_method[method] += count;
      for (const auto& [cause, count] : s.unknown_by_cause) all.unknown_by_cause[cause] += count;
    }
    for (const std::string& text : prover.disagreements()) summary.disagreements.push_back(text);
  }

  std::vector<TableRow>& rows_;
  const TableOptions& options_;
  std::vector<bool> is_done_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

void count(const TableRow& row, TableSummary& summary) {
  summary.rows++;
  if (row.is_listed) {
    summary.listed++;
    return;
  }
  switch (row.proof.verdict.answer) {
    case Answer::Pass:
      summary.passed++;
      summary.by_strength[std::string(strength_text(row.proof.verdict.strength))]++;
      break;
    case Answer::Fail: summary.failed++; break;
    case Answer::Unknown:
      summary.unknown++;
      summary.unknown_by_cause[row.proof.method]++;
      break;
  }
}

std::string rule_text(const uop::Rule& rule, std::string_view types) {
  std::string text =
      fmt::format("{} => {} : {}", to_infix(rule.match), to_infix(rule.replace), types);
  if (!rule.when.empty()) text += fmt::format(" when {}", to_infix(rule.when));
  return text;
}

}  // namespace

TableSummary prove_table(std::span<const uop::RuleSet* const> sets, const TableOptions& options,
                         const std::function<void(const TableRow&)>& show) {
  std::vector<TableRow> rows = rows_of(sets, options);
  Work work(rows, options);
  std::vector<std::thread> threads;
  const size_t jobs = std::clamp<size_t>(options.jobs, 1, std::max<size_t>(rows.size(), 1));
  for (size_t i = 0; i < jobs; i++) threads.emplace_back([&work] { work.run(); });
  TableSummary counted;
  for (size_t i = 0; i < rows.size(); i++) {
    work.wait_for(i);
    count(rows[i], counted);
    show(rows[i]);
  }
  for (std::thread& thread : threads) thread.join();
  counted.questions = std::move(work.summary.questions);
  counted.disagreements = std::move(work.summary.disagreements);
  std::sort(counted.disagreements.begin(), counted.disagreements.end());
  return counted;
}

std::string row_text(const TableRow& row) {
  const std::string name = uop::full_name(*row.set, *row.rule);
  if (row.is_listed) return fmt::format("{} by firing", name);
  const oracles::Verdict& v = row.proof.verdict;
  const std::string_view type = row.over ? uop::to_text(*row.over) : "firings";
  std::string text = fmt::format("{} {} {}", name, type, answer_text(v.answer));
  if (v.answer == Answer::Pass) {
    text += fmt::format(" {} {}", strength_text(v.strength), row.proof.method);
  }
  if (v.answer == Answer::Pass && v.strength == Strength::Sampled) {
    text += fmt::format(" ({})", v.evidence);
  }
  if (v.answer != Answer::Pass) text += fmt::format("\n  {}", v.evidence);
  if (!row.missing.empty()) text += fmt::format("\n  holds when {}", row.missing);
  return text;
}

std::string evidence_text(const TableRow& row) {
  const std::string name = uop::full_name(*row.set, *row.rule);
  std::string text = fmt::format("# {}: {}\n", name, row.proof.verdict.evidence);
  if (!row.missing.empty()) text += fmt::format("# it holds when {}\n", row.missing);
  if (row.rule->by != nullptr || !row.over) return text;
  return text +
         fmt::format("{}: {}\n", row.rule->name, rule_text(*row.rule, uop::to_text(*row.over)));
}

}  // namespace assay::props
