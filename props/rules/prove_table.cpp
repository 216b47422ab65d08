#include "props/rules/prove_table.h"

#include <fmt/format.h>

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

std::string rule_text(const uop::Rule& rule, std::string_view types) {
  std::string text =
      fmt::format("{} => {} : {}", to_infix(rule.match), to_infix(rule.replace), types);
  if (!rule.when.empty()) text += fmt::format(" when {}", to_infix(rule.when));
  return text;
}

}  // namespace

std::vector<TableRow> table_rows(std::span<const uop::RuleSet* const> sets,
                                 const TableOptions& options) {
  std::vector<TableRow> rows;
  for (const uop::RuleSet* set : sets) {
    for (const uop::Rule& rule : set->rules()) {
      if (!is_asked_for(*set, rule, options)) continue;
      if (rule.by != nullptr) {
        rows.push_back({set, &rule, std::nullopt, true});
        continue;
      }
      for (int i = 0; i < uop::kDTypeCount; i++) {
        const DType t = DType(i);
        if (!rule.over.has(t) || (options.type && *options.type != t)) continue;
        rows.push_back({set, &rule, t});
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

void TableCounts::add(const TableRow& row) {
  if (row.is_listed) {
    listed++;
    return;
  }
  switch (row.proof.verdict.answer) {
    case Answer::Pass:
      passed++;
      by_strength[std::string(strength_text(row.proof.verdict.strength))]++;
      break;
    case Answer::Fail: failed++; break;
    case Answer::Unknown:
      unknown++;
      unknown_by_cause[row.proof.method]++;
      break;
  }
}

std::string counts_text(const TableCounts& counts) {
  const auto listed = [](const auto& map) {
    std::string text;
    for (const auto& [name, n] : map)
      text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", n, name);
    return text.empty() ? text : text + ")";
  };
  return fmt::format("{} verdicts: {} passed{}, {} failed, {} unknown{}; {} rules by firing",
                     counts.passed + counts.failed + counts.unknown, counts.passed,
                     listed(counts.by_strength), counts.failed, counts.unknown,
                     listed(counts.unknown_by_cause), counts.listed);
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
