#include "fuzz/fault/mutants.h"

#include <fmt/format.h>

#include "engine/uop/rule_check.h"
#include "engine/uop/rules/rules.h"
#include "props/rules/mutants.h"

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

bool is_of_table(const Fault& fault) {
  const auto* wrong = std::get_if<WrongRule>(&fault.how);
  return wrong != nullptr && wrong->rule.by == nullptr && fault.name.starts_with(fault.blame + " ");
}

bool is_refutable(const Fault& fault) {
  const auto& wrong = std::get<WrongRule>(fault.how);
  const uop::RuleSet set(wrong.set, {wrong.rule});
  uop::RuleBudget budget;
  budget.firings = kFirings;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    if (!wrong.rule.over.has(DType(i))) continue;
    if (uop::check_rule(set, set.rules()[0], DType(i), kSeed, budget).counterexample) return true;
  }
  return false;
}

}  // namespace assay::fuzz
