#include "fuzz/blame/triage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace assay::fuzz {

Cause cause_of(const Finding& finding, const Blame& blame) {
  if (!blame.rule.empty()) return {"", "", blame.rule, ""};
  return {finding.judge, blame.nearest(), "", finding.shape};
}

std::string to_text(const Cause& cause) {
  if (!cause.rule.empty()) return cause.rule;
  return fmt::format("{} by {}: {}", cause.pass, cause.judge, cause.shape);
}

std::vector<Group> triage(std::span<const Report> reports) {
  std::map<Cause, std::vector<size_t>> by_cause;
  for (size_t k = 0; k < reports.size(); k++) {
    by_cause[cause_of(reports[k].finding, reports[k].blame)].push_back(k);
  }
  std::vector<Group> groups;
  for (auto& [cause, places] : by_cause) {
    const auto size_of = [&](size_t k) { return reports[k].witness.program.statements.size(); };
    std::stable_sort(places.begin(), places.end(),
                     [&](size_t a, size_t b) { return size_of(a) < size_of(b); });
    groups.push_back({cause, std::move(places)});
  }
  return groups;
}

}  // namespace assay::fuzz
