#include "fuzz/fault/mutants.h"

#include <fmt/format.h>

#include "engine/uop/rule_check.h"
#include "engine/uop/rules/rules.h"
#include "props/rules/mutants.h"
#include "props/rules/prove_rule.h"

namespace assay::fuzz {
namespace {

constexpr int kFirings = 400;  // that are judged of a rule at a type
constexpr uint64_t kSeed = 7;

// What a set's rules are about: integers of indices, types, gates.
FaultClass class_of(std::string_view set) {
  if (set == "cast" || set == "bitcast") return FaultClass::DType;
  if (set == "identity" || set == "min_max") return FaultClass::Reduce;
  if (set == "select" || set == "invalid") return FaultClass::Vector;
  if (set.find("range") != std::string_view::npos) return FaultClass::Ranges;
  return FaultClass::Index;
}

// An instance that changes a value, or "".
std::string counterexample_of(const Fault& fault) {
  const auto& wrong = std::get<WrongRule>(fault.how);
  const uop::RuleSet set(wrong.set, {wrong.rule});
  uop::RuleBudget budget;
  budget.firings = kFirings;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    if (!wrong.rule.over.has(DType(i))) continue;
    const auto verdict = uop::check_rule(set, set.rules()[0], DType(i), kSeed, budget);
    if (verdict.counterexample) return fmt::format("{}: {}", fault.name, *verdict.counterexample);
  }
  return "";
}

}  // namespace

std::vector<Fault> rule_faults() {
  std::vector<Fault> faults;
  for (const uop::RuleSet* set : uop::all_rules()) {
    for (const uop::Rule& rule : set->rules()) {
      if (rule.by != nullptr) continue;
      const std::string full = uop::full_name(*set, rule);
      for (props::Mutant& m : props::mutants_of(rule)) {
        faults.push_back({fmt::format("{} {}", full, m.name), class_of(set->name()),
                          fmt::format("{} {}.", full, m.name), full,
                          WrongRule{set->name(), std::move(m.rule)}});
      }
    }
  }
  return faults;
}

std::vector<Fault> every_fault() {
  std::vector<Fault> all(stage_faults().begin(), stage_faults().end());
  for (Fault& f : rule_faults()) all.push_back(std::move(f));
  return all;
}

bool is_of_table(const Fault& fault) {
  const auto* wrong = std::get_if<WrongRule>(&fault.how);
  return wrong != nullptr && wrong->rule.by == nullptr && fault.name.starts_with(fault.blame + " ");
}

bool is_refutable(const Fault& fault) { return !counterexample_of(fault).empty(); }

RuleAnswer proof_of(const Fault& fault, smt::Prover& prover) {
  if (std::string point = counterexample_of(fault); !point.empty()) {
    return {.is_refuted = true, .evidence = std::move(point)};
  }
  const auto& wrong = std::get<WrongRule>(fault.how);
  smt::Tables tables;
  const props::RuleJudge judge = {prover, tables};
  std::string types;
  for (const uop::DType t : {uop::Index, uop::I8, uop::U8, uop::Bool, uop::E5M2, uop::E4M3}) {
    if (!wrong.rule.over.has(t)) continue;
    const props::RuleProof proof = props::prove_rule(wrong.rule, t, judge);
    const std::string what = fmt::format("{} at {}", fault.name, uop::to_text(t));
    if (proof.verdict.answer == oracles::Answer::Fail) {
      return {.is_refuted = true, .evidence = fmt::format("{}: {}", what, proof.verdict.evidence)};
    }
    if (proof.verdict.answer == oracles::Answer::Unknown) return {};
    types += fmt::format("{}{}", types.empty() ? "" : ", ", uop::to_text(t));
  }
  if (types.empty()) return {};
  return {.is_true = true, .evidence = fmt::format("as true as the rule, by proof at {}", types)};
}

}  // namespace assay::fuzz
