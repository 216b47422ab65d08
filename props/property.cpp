#include "props/property.h"

#include <algorithm>

namespace assay::props {

void Checked::add(const Verdict& obligation, std::string_view method) {
  if (obligation.answer == Answer::Unknown) return add_unknown(method, obligation.evidence);
  obligations++;
  by_method.try_emplace(std::string(method)).first->second++;
  verdict.strength = std::min(verdict.strength, obligation.strength);
  if (obligation.answer == Answer::Pass || verdict.answer == Answer::Fail) return;
  verdict.answer = Answer::Fail;
  verdict.evidence = obligation.evidence;
}

void Checked::add_unknown(std::string_view cause, std::string why) {
  obligations++;
  unknown++;
  by_cause.try_emplace(std::string(cause)).first->second++;
  if (verdict.answer != Answer::Pass) return;
  verdict.answer = Answer::Unknown;
  verdict.evidence = std::move(why);
}

}  // namespace assay::props
