#pragma once

#include <optional>
#include <string>

#include "props/rules/prove_rule.h"

namespace assay::props {

// The side condition that a rule lacks at type `over`, where one or two of the vocabulary of guards
// repair it: c != 0, c > 0, c % d == 0, lo(x) >= 0, hi(x) < c, never_unspecified(x), … It is the
// weakest of those that were found: one condition rather than two, and of two that do the first in
// the vocabulary, which lists weaker ones first. Under it the rule is proved and fires on
// something. `failed` is what prove_rule() said. Text as parse_rule() reads it: "c > 0 && d > 0".
std::optional<std::string> missing_guard(const uop::Rule& rule, uop::DType over,
                                         const RuleProof& failed, const RuleJudge& judge);

}  // namespace assay::props
