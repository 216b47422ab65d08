// Constants: what can be known now is computed now, at the width of its type.
#include <array>

#include "engine/uop/bounds.h"
#include "engine/uop/eval.h"
#include "engine/uop/key.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"

namespace assay::uop {
namespace {

constexpr OpSet scalar_ops() {
  OpSet set;
  for (int i = 0; i < kOpCount; i++) {
    if (is_scalar(static_cast<Op>(i))) set.insert(static_cast<Op>(i));
  }
  return set;
}

constexpr OpSet commuting_ops() {
  OpSet set;
  for (int i = 0; i < kOpCount; i++) {
    if (commutes(static_cast<Op>(i))) set.insert(static_cast<Op>(i));
  }
  return set;
}

Ref constants(Run& run, Ref u) {
  Graph& g = run.graph();
  std::array<Value, 3> values;
  for (size_t i = 0; i < u->src.size(); i++) {
    if (!is_const(u->src[i])) return nullptr;
    values[i] = u->src[i]->value();
  }
  const std::optional<Value> v = eval(u->op, u->dtype, std::span(values.data(), u->src.size()));
  return v ? g.constant(*v) : nullptr;
}

Ref single_value(Run& run, Ref u) {
  Graph& g = run.graph();
  if (!kLogic.has(u->dtype)) return nullptr;
  const Bounds b = bounds(g, u);
  if (!is_single(b) || may_be_invalid(g, u)) return nullptr;
  return g.constant(of_int(u->dtype, b.lo));
}

// Sums of integers are ordered by combine.collect.
Ref order_operands(Run& run, Ref u) {
  Graph& g = run.graph();
  if (u->op == Op::Add && is_int(u->dtype)) return nullptr;
  if (!comes_before(g, u->src[1], u->src[0])) return nullptr;
  return g.make(u->op, u->dtype, {u->src[1], u->src[0]});
}

}  // namespace

const RuleSet& fold_rules() {
  static const RuleSet rules(
      "fold",
      {
          by("constants", kScalars, scalar_ops(), constants,
             "a scalar function of constants is its value, where the contract specifies one",
             {Op::Const}),
          by("single_value", kLogic, scalar_ops() | OpSet{Op::Variable}, single_value,
             "a term whose bounds leave one value is that value, unless it may be invalid"),
          by("single_value_of_floats", kFloats, {Op::Lt, Op::Eq, Op::Ne, Op::Cast}, single_value,
             "so is a comparison of floats, or a cast from one to an integer"),
          by("order_operands", kScalars, commuting_ops(), order_operands,
             "the operands of a commuting operation stand in canonical order"),
      });
  return rules;
}

}  // namespace assay::uop
