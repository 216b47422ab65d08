#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/rule.h"
#include "oracles/smt/prover.h"
#include "props/rules/prove_rule.h"

namespace assay::props {

// What of a table is proved, and how.
struct TableOptions {
  std::string rule;                // "set.rule" or "rule"; "" for all
  std::string set;                 // "" for all
  std::optional<uop::DType> type;  // nothing for all
  Widths widths = Widths::Commit;
  smt::ProverOptions prover;  // of each thread
  unsigned jobs = 1;
  uint64_t seed = 1;
  bool seeks_guards = true;  // of rules that failed
  // What judges a rule with `by`. Without, or where it gives nothing, the rule is listed.
  std::function<std::optional<RuleProof>(const uop::RuleSet&, const uop::Rule&, const RuleJudge&)>
      by_firings;
};

// The verdict on one rule at one type, or of a rule with `by` at all of its types.
struct TableRow {
  const uop::RuleSet* set = nullptr;
  const uop::Rule* rule = nullptr;
  std::optional<uop::DType> over;
  bool is_listed = false;  // nothing judged it: `by`, and no by_firings
  RuleProof proof;
  std::string missing;  // the guard that repairs a failure, if one was found
};

struct TableSummary {
  size_t rows = 0, passed = 0, failed = 0, unknown = 0, listed = 0;
  std::map<std::string, size_t, std::less<>> by_strength;
  std::map<std::string, size_t, std::less<>> unknown_by_cause;
  // Of all threads together, by kind of question: how many, and what they took. No part of a
  // verdict.
  std::map<std::string, smt::Statistics, std::less<>> questions;
  std::vector<std::string> disagreements;  // findings against the harness (prover.h)
};

// Proves rules in threads, each with its own Prover. `show` sees the rows in the order of the
// table, whatever the number of threads.
TableSummary prove_table(std::span<const uop::RuleSet* const> sets, const TableOptions& options,
                         const std::function<void(const TableRow&)>& show);

// "div_mod.div_of_div index pass proved z3", and below it the evidence of what did not pass.
std::string row_text(const TableRow& row);

// A file that shows a failure to whoever runs it: `assay prove --file` reads it.
std::string evidence_text(const TableRow& row);

}  // namespace assay::props
