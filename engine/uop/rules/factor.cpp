// The last touch: terms of a sum that share a factor share the multiplication. It undoes what
// combine.collect wants, so it runs by itself, after all else.
#include <algorithm>
#include <vector>

#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/sum.h"

namespace assay::uop {
namespace {

Ref shared_factor(Run& run, Ref u) {
  Graph& g = run.graph();
  const std::optional<Sum> sum = sum_of(g, u);
  if (!sum) return nullptr;
  Sum result;
  result.dtype = u->dtype;
  result.constant = sum->constant;
  bool changed = false;
  for (int i = 0; i < sum->count; i++) {
    const int64_t f = sum->items[i].factor;
    const auto same = [&](const Sum::Term& t) { return t.factor == f; };
    const auto terms = sum->terms();
    if (f == 1 || std::count_if(terms.begin(), terms.end(), same) == 1) {
      result.add(g, sum->items[i].atom, f);
      continue;
    }
    if (std::find_if(terms.begin(), terms.end(), same) != terms.begin() + i) continue;
    Sum group;
    group.dtype = u->dtype;
    for (const Sum::Term& t : terms) {
      if (t.factor == f) group.add(g, t.atom, 1);
    }
    result.add(g, build(g, group), f);
    changed = true;
  }
  return changed ? build(g, result) : nullptr;
}

}  // namespace

const RuleSet& factor_rules() {
  static const RuleSet rules("factor", {
                                           by("shared_factor", kInts, {Op::Add}, shared_factor,
                                              "x*f + y*f is (x + y)*f", {Op::Add, Op::Mul}),
                                       });
  return rules;
}

}  // namespace assay::uop
