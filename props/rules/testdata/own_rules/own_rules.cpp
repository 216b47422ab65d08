#include "engine/uop/rule.h"

using assay::uop::any;
using assay::uop::constant;
using assay::uop::Pat;
using assay::uop::RuleSet;

const RuleSet& my_rules() {
  const Pat x = any("x");
  const Pat c = constant("c");
  const Pat d = constant("d");
  static const RuleSet rules(
      "own", {
                 // name, over, match, replace, when
                 {"mod_of_multiple", assay::uop::kIndex, (x * c) % d, 0, d != 0 && c % d == 0},
                 {"twice", assay::uop::kInts, x + x, x * 2},
             });
  return rules;
}
