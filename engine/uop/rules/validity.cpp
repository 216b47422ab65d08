// Gates: conditions that others imply are dropped, and an index is simplified by what its gate
// says.
#include <algorithm>
#include <vector>

#include "engine/uop/bounds.h"
#include "engine/uop/given.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/unspecified.h"

namespace assay::uop {
namespace {

constexpr size_t kMaxConditions = 24;

// A condition where the others hold. Where they do not it is read too, so what it becomes has to
// have a value there as well: a select may have guarded it, or a divisor been another number.
Ref simpler_condition(Run& run, Ref before, const std::vector<Ref>& others) {
  const Ref after = given(run, before, others);
  return may_be_unspecified(run.graph(), after) ? before : after;
}

// Each condition, given the others as they stand by then. Those of u's left side have met before,
// so the newest meets them first.
Ref simplify_conjunction(Run& run, Ref u) {
  Graph& g = run.graph();
  std::vector<Ref> conditions = conjuncts(u);
  if (conditions.size() > kMaxConditions || may_be_invalid(g, u)) return nullptr;
  bool changed = false;
  for (size_t i = conditions.size(); i-- > 0;) {
    std::vector<Ref> others = conditions;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Ref before = conditions[i];
    conditions[i] = simpler_condition(run, before, others);
    changed = changed || conditions[i] != before;
    if (is_const(conditions[i])) {
      if (conditions[i]->value() == of_bool(false)) return conditions[i];
      conditions.erase(conditions.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return changed ? conjunction(g, conditions) : nullptr;
}

Ref index_by_gate(Run& run, Ref u) {
  Graph& g = run.graph();
  if (u->src[2]->op != Op::Invalid || u->dtype != DType::Index) return nullptr;
  const std::vector<Ref> conditions = conjuncts(u->src[0]);
  if (conditions.size() > kMaxConditions) return nullptr;
  const Ref index = given(run, u->src[1], conditions);
  if (index == u->src[1]) return nullptr;
  return g.make(Op::Where, u->dtype, {u->src[0], index, u->src[2]});
}

}  // namespace

const RuleSet& validity_rules() {
  static const RuleSet rules(
      "validity",
      {
          by("conjunction", kBool, {Op::And}, simplify_conjunction,
             "a condition may stand in a simpler form that equals it wherever the others hold, and "
             "is dropped where they imply it"),
          by("index_by_gate", kIndex, {Op::Where}, index_by_gate,
             "an index may stand in a simpler form that equals it wherever its gate holds",
             {Op::Invalid}),
      });
  return rules;
}

}  // namespace assay::uop
