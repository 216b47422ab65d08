// Least and largest of two.
#include "engine/uop/rules/predicates.h"
#include "engine/uop/rules/rules.h"

namespace assay::uop {

const RuleSet& min_max_rules() {
  const Pat x = any("x");
  const Pat y = any("y");
  const Pat c = constant("c");
  const Pat d = constant("d");
  constexpr TypeSet kBounded = kFixedInts | kFloats | kBool;
  static const RuleSet rules("min_max",
                             {
                                 // name, over, match, replace, when
                                 {"max_self", kScalars, max(x, x), x},
                                 {"min_self", kScalars, min(x, x), x},
                                 {"max_above", kInts, max(x, y), x, hi(y) <= lo(x)},
                                 {"min_below", kInts, min(x, y), x, hi(x) <= lo(y)},
                                 {"max_lowest", kBounded, max(x, c), x, test(kIsLowest, {c})},
                                 {"min_highest", kBounded, min(x, c), x, test(kIsHighest, {c})},
                                 {"max_constants", kScalars, max(max(x, c), d), max(x, max(c, d))},
                                 {"min_constants", kScalars, min(min(x, c), d), min(x, min(c, d))},
                                 {"max_absorbs", kInts, max(x, min(x, y)), x},
                                 {"min_absorbs", kInts, min(x, max(x, y)), x},
                                 {"max_max_self", kScalars, max(max(x, y), y), max(x, y)},
                                 {"min_min_self", kScalars, min(min(x, y), y), min(x, y)},
                                 {"max_moves_constant", kIndex, max(x + c, d), max(x, d - c) + c},
                                 {"min_moves_constant", kIndex, min(x + c, d), min(x, d - c) + c},
                                 {"max_of_nots", kInts, max(!x, !y), !min(x, y)},
                                 {"min_of_nots", kInts, min(!x, !y), !max(x, y)},
                             });
  return rules;
}

}  // namespace assay::uop
