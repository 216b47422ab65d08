// Comparisons. Over `index` a constant moves freely from one side to the other; at fixed widths
// that would be wrong where a side wraps.
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/sum.h"

namespace assay::uop {
namespace {

// The parts of a sum that are multiples of f, divided by it, and the rest.
struct Split {
  Sum multiples;
  Sum rest;
};

Split split(Graph& g, const Sum& sum, Int128 f) {
  Split parts;
  for (const Sum::Term& t : sum.terms()) {
    const bool multiple = t.factor % f == 0;
    (multiple ? parts.multiples : parts.rest).add(g, t.atom, multiple ? t.factor / f : t.factor);
  }
  return parts;
}

// f*X + R < c depends on X alone where ceil((c - R) / f) is one number for all R; and so does
// c < f*X + R where floor((c - R) / f) is.
Ref lt_coarse(Run& run, Ref u) {
  Graph& g = run.graph();
  const bool below = is_const(u->src[1]);
  if (!below && !is_const(u->src[0])) return nullptr;
  const std::optional<Sum> sum = sum_of(g, u->src[below ? 0 : 1]);
  if (!sum || sum->count < 2) return nullptr;
  const Int128 c = as_int(u->src[below ? 1 : 0]->value()) - sum->constant;
  const auto limit_at = [&](Int128 r, Int128 f) {
    return below ? -floor_div(-(c - r), f) : floor_div(c - r, f);
  };
  for (const Sum::Term& unit : sum->terms()) {
    const Int128 f = unit.factor < 0 ? -Int128{unit.factor} : Int128{unit.factor};
    if (f < 2) continue;
    const Split parts = split(g, *sum, f);
    const Bounds r = bounds(g, parts.rest);
    if (r.lo <= -kInfinite || r.hi >= kInfinite) continue;
    const Int128 limit = limit_at(r.lo, f);
    if (limit != limit_at(r.hi, f) || !fits(Index, limit)) continue;
    const Ref x = build(g, parts.multiples);
    const Ref end = g.constant(of_int(Index, limit));
    return below ? g.alu(Op::Lt, {x, end}) : g.alu(Op::Lt, {end, x});
  }
  return nullptr;
}

}  // namespace

const RuleSet& compare_rules() {
  const Pat x = any("x");
  const Pat y = any("y");
  const Pat z = any("z");
  const Pat n = any("n", kInts);
  const Pat c = constant("c");
  const Pat d = constant("d");
  static const RuleSet rules(
      "compare",
      {
          // name, over, match, replace, when
          {"lt_self", kScalars, x < x, 0},
          {"eq_self", kLogic, x == x, 1},
          {"ne_self", kLogic, x != x, 0},
          {"not_eq", kBool, !(x == y), x != y},
          {"not_ne", kBool, !(x != y), x == y},
          {"not_lt_constant", kBool, !(n < c), (c - 1) < n, lo(n) < c},
          {"not_constant_lt", kBool, !(c < n), n < c + 1, c < hi(n)},
          {"lt_moves_constant", kIndex, x + c < d, x < d - c},
          {"constant_lt_moves_constant", kIndex, d < x + c, d - c < x},
          {"lt_cancels", kIndex, x + z < y + z, x < y},
          {"lt_cancels_all", kIndex, z < y + z, 0 < y},
          {"lt_cancels_all_left", kIndex, x + z < z, x < 0},
          {"lt_of_product", kIndex, x * c < d, x < (d + (c - 1)) / c, c > 0},
          {"lt_of_negative_product", kIndex, x * c < d, (0 - d) / (0 - c) < x, c < 0},
          {"constant_lt_product", kIndex, d < x * c, d / c < x, c > 0},
          {"constant_lt_negative_product", kIndex, d < x * c, x < ((0 - c - 1) - d) / (0 - c),
           c < 0},
          {"lt_of_quotient", kIndex, x / c < d, x < d * c, c > 0},
          {"constant_lt_quotient", kIndex, d < x / c, (d + 1) * c - 1 < x, c > 0},
          {"eq_moves_constant", kInts, x + c == d, x == d - c},
          {"ne_moves_constant", kInts, x + c != d, x != d - c},
          {"eq_of_product", kIndex, x * c == d, x == d / c, c != 0 && d % c == 0},
          {"ne_of_product", kIndex, x * c != d, x != d / c, c != 0 && d % c == 0},
          {"eq_of_no_multiple", kIndex, x * c == d, 0, c != 0 && d % c != 0},
          {"ne_of_no_multiple", kIndex, x * c != d, 1, c != 0 && d % c != 0},
          by("lt_coarse", kIndex, {Op::Lt}, lt_coarse,
             "f*X + R compares with a constant as f*X does, where every R within its bounds leaves "
             "the same limit for X",
             {Op::Const}),
      });
  return rules;
}

}  // namespace assay::uop
