// Boolean algebra, which holds bit by bit for integers too.
#include "engine/uop/rules/predicates.h"
#include "engine/uop/rules/rules.h"

namespace assay::uop {

const RuleSet& boolean_rules() {
  const Pat x = any("x");
  const Pat y = any("y");
  const Pat c = constant("c");
  const Pat d = constant("d");
  const auto op = [](Op o, const Pat& a, const Pat& b) { return Pat(o, {a, b}); };
  static const RuleSet rules(
      "boolean", {
                     // name, over, match, replace, when
                     {"and_ones", kLogic, x && -1, x},
                     {"and_zero", kLogic, x && 0, 0},
                     {"and_self", kLogic, x && x, x},
                     {"or_zero", kLogic, x || 0, x},
                     {"or_ones", kLogic, x || -1, -1},
                     {"or_self", kLogic, x || x, x},
                     {"xor_zero", kLogic, op(Op::Xor, x, 0), x},
                     {"xor_ones", kLogic, op(Op::Xor, x, -1), !x},
                     {"xor_self", kLogic, op(Op::Xor, x, x), 0},
                     {"xor_xor", kLogic, op(Op::Xor, op(Op::Xor, x, y), y), x},
                     {"not_not", kLogic, !!x, x},
                     {"and_constants", kLogic, (x && c) && d, x && (c && d)},
                     {"or_constants", kLogic, (x || c) || d, x || (c || d)},
                     {"xor_constants", kLogic, op(Op::Xor, op(Op::Xor, x, c), d),
                      op(Op::Xor, x, op(Op::Xor, c, d))},
                     {"and_not_self", kLogic, x && !x, 0},
                     {"or_not_self", kLogic, x || !x, -1},
                     {"xor_not_self", kLogic, op(Op::Xor, x, !x), -1},
                     {"and_absorbs", kLogic, x && (x || y), x},
                     {"or_absorbs", kLogic, x || (x && y), x},
                     {"and_drops_not", kLogic, x && (!x || y), x && y},
                     {"or_drops_not", kLogic, x || (!x && y), x || y},
                     {"and_and_self", kLogic, (x && y) && y, x && y},
                     {"or_or_self", kLogic, (x || y) || y, x || y},
                     {"and_of_nots", kLogic, !x && !y, !(x || y)},
                     {"or_of_nots", kLogic, !x || !y, !(x && y)},
                     {"or_factor", kLogic, (x && y) || (x && any("z")), x && (y || any("z"))},
                     {"and_factor", kLogic, (x || y) && (x || any("z")), x || (y && any("z"))},
                     {"xor_of_nots", kLogic, op(Op::Xor, !x, !y), op(Op::Xor, x, y)},
                     {"eq_true", kBool, x == 1, x},
                     {"eq_false", kBool, x == 0, !x},
                     {"ne_false", kBool, x != 0, x},
                     {"ne_true", kBool, x != 1, !x},
                     {"lt", kBool, x < y, !x && y},
                     {"max", kBool, max(x, y), x || y},
                     {"min", kBool, min(x, y), x && y},
                 });
  return rules;
}

}  // namespace assay::uop
