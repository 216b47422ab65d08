#include "props/property.h"

#include <algorithm>

namespace assay::props {

void Checked::add(const Verdict& obligation, std::string_view method) {
  obligations++;
  by_method.try_emplace(std::string(method)).first->second++;
  verdict.strength = std::min(verdict.strength, obligation.strength);
  if (obligation.answer == Answer::Unknown) {
    unknown++;
    by_cause.try_emplace(std::string(method)).first->second++;
  }
  const bool is_worse = obligation.answer == Answer::Fail ? verdict.answer != Answer::Fail
                                                          : obligation.answer == Answer::Unknown &&
                                                                verdict.answer == Answer::Pass;
  if (!is_worse) return;
  verdict.answer = obligation.answer;
  verdict.evidence = obligation.evidence;
}

void Checked::add_unknown(std::string_view cause, std::string evidence) {
  obligations++;
  unknown++;
  by_cause.try_emplace(std::string(cause)).first->second++;
  if (verdict.answer != Answer::Pass) return;
  verdict.answer = Answer::Unknown;
  verdict.evidence = std::move(evidence);
}

}  // namespace assay::props
