// Units, zeros and inverses of arithmetic and shifts.
#include "engine/uop/rules/predicates.h"
#include "engine/uop/rules/rules.h"

namespace assay::uop {

const RuleSet& identity_rules() {
  const Pat x = any("x");
  const Pat y = any("y");
  const Pat c = constant("c");
  const auto op = [](Op o, const Pat& a, const Pat& b) { return Pat(o, {a, b}); };
  const Pat neg_x = Pat(Op::Neg, {x});
  constexpr TypeSet kSignedOrIndex = kSigned | kIndex;
  static const RuleSet rules(
      "identity",
      {
          // name, over, match, replace, when
          {"add_zero", kInts, x + 0, x},
          {"add_minus_zero", kFloats, x + c, x, test(kIsMinusZero, {c})},
          {"sub_zero", kNumbers, x - 0, x},
          {"mul_one", kNumbers, x * 1, x},
          {"mul_zero", kInts, x * 0, 0},
          {"mul_minus_one", kFloats, x * -1, neg_x},
          {"fdiv_one", kFloats, op(Op::FDiv, x, 1), x},
          {"fdiv_power_of_two", kFloats, op(Op::FDiv, x, c), x * Pat(Op::Recip, {c}),
           test(kIsPowerOfTwo, {c})},
          {"neg_neg", kNumbers, Pat(Op::Neg, {neg_x}), x},
          {"neg_to_mul", kInts, neg_x, x * -1},
          {"sub_to_add", kInts, x - y, x + y * -1},
          {"sub_neg", kFloats, x - Pat(Op::Neg, {y}), x + y},
          {"add_neg", kFloats, x + Pat(Op::Neg, {y}), x - y},
          {"mul_of_negs", kFloats, neg_x * Pat(Op::Neg, {y}), x * y},
          {"shl_zero", kInts, op(Op::Shl, x, 0), x},
          {"shr_zero", kInts, op(Op::Shr, x, 0), x},
          {"shl_to_mul", kInts, op(Op::Shl, x, c), x * op(Op::Shl, 1, c)},
          {"shr_to_div", kIndex, op(Op::Shr, x, c), x / op(Op::Shl, 1, c), 0 <= c && c < 63},
          {"div_one", kInts, x / 1, x},
          {"div_minus_one", kSignedOrIndex, x / -1, x * -1},
          {"div_self", kInts, x / x, 1},
          {"mod_minus_one", kSignedOrIndex, x % -1, 0},
          {"mod_self", kInts, x % x, 0},
          {"tdiv_one", kInts, op(Op::TDiv, x, 1), x},
          {"tdiv_minus_one", kSignedOrIndex, op(Op::TDiv, x, -1), x * -1},
          {"tdiv_self", kInts, op(Op::TDiv, x, x), 1},
          {"tmod_minus_one", kSignedOrIndex, op(Op::TMod, x, -1), 0},
          {"tmod_self", kInts, op(Op::TMod, x, x), 0},
          {"pow_zero", kNumbers, op(Op::Pow, x, 0), 1},
          {"pow_one", kNumbers, op(Op::Pow, x, 1), x},
          {"pow_two", kNumbers, op(Op::Pow, x, 2), x * x},
          {"one_pow", kNumbers, op(Op::Pow, 1, x), 1},
      });
  return rules;
}

}  // namespace assay::uop
