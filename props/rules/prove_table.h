#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/uop/rule.h"
#include "props/rules/prove_rule.h"

namespace assay::props {

// What of a table is proved, and how.
struct TableOptions {
  std::string rule = {};                // "set.rule" or "rule"; "" for all
  std::string set = {};                 // "" for all
  std::optional<uop::DType> type = {};  // nothing for all
  bool seeks_guards = true;             // of rules that failed
  // What judges a rule with `by`. Without it, or where it gives nothing, the rule is listed.
  std::function<std::optional<RuleProof>(const uop::RuleSet&, const uop::Rule&, const RuleJudge&)>
      by_firings = {};
};

// The verdict on one rule at one type, or of a rule with `by` at all of its types.
struct TableRow {
  const uop::RuleSet* set = nullptr;
  const uop::Rule* rule = nullptr;
  std::optional<uop::DType> over = {};
  bool is_listed = false;  // nothing judged it: `by`, and no by_firings
  RuleProof proof = {};
  std::string missing = {};  // the guard that repairs a failure, if one was found
};

// What is to be judged, in the order of the table.
std::vector<TableRow> table_rows(std::span<const uop::RuleSet* const> sets,
                                 const TableOptions& options);
void judge_row(TableRow& row, const TableOptions& options, const RuleJudge& judge);

struct TableCounts {
  size_t passed = 0, failed = 0, unknown = 0, listed = 0;
  std::map<std::string, size_t, std::less<>> by_strength;
  std::map<std::string, size_t, std::less<>> unknown_by_cause;

  void add(const TableRow& row);
};
// "1308 verdicts: 1308 passed (12 sampled, …), 0 failed, 0 unknown; 49 rules by firing".
std::string counts_text(const TableCounts& counts);

// "div_mod.div_of_div index pass proved z3", and below it the evidence of what did not pass.
std::string row_text(const TableRow& row);

// A file that shows a failure to whoever runs it: `assay prove --file` reads it.
std::string evidence_text(const TableRow& row);

}  // namespace assay::props
