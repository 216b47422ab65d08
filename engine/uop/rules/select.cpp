// Selects. Only the branch that is taken is read: the other may be Invalid.
#include "engine/uop/rules/predicates.h"
#include "engine/uop/rules/rules.h"

namespace assay::uop {

const RuleSet& select_rules() {
  const Pat p = any("p");
  const Pat q = any("q");
  const Pat a = any("a");
  const Pat b = any("b");
  // Of a term that is read where it was not before.
  const auto is_defined = [](const Pat& hole) {
    return test(kNeverInvalid, {hole}) && test(kNeverUnspecified, {hole});
  };
  static const RuleSet rules(
      "select",
      {
          // name, over, match, replace, when
          {"true", kScalars, where(1, a, unread("b")), a},
          {"false", kScalars, where(0, unread("a"), b), b},
          {"same", kScalars, where(p, a, a), a},
          {"not", kScalars, where(!p, a, b), where(p, b, a), test(kIsNotInvalid, {b})},
          {"one_zero", kBool, where(p, 1, 0), p},
          {"zero_one", kBool, where(p, 0, 1), !p},
          {"and", kBool, where(p, a, 0), p && a, is_defined(a)},
          {"or", kBool, where(p, 1, b), p || b, is_defined(b)},
          {"and_not", kBool, where(p, 0, b), !p && b, is_defined(b)},
          {"or_not", kBool, where(p, a, 1), !p || a, is_defined(a)},
          {"nested_and", kScalars, where(p, where(q, a, b), b), where(p && q, a, b), is_defined(q)},
          {"nested_or", kScalars, where(p, a, where(q, a, b)), where(p || q, a, b), is_defined(q)},
          {"true_within", kScalars, where(p, where(p, a, unread("u")), b), where(p, a, b)},
          {"false_within", kScalars, where(p, a, where(p, unread("u"), b)), where(p, a, b)},
      });
  return rules;
}

}  // namespace assay::uop
