// Invalid marks what is not accessed. It spreads to all that uses it, so gates move outwards, to
// where a load or store takes them.
#include <vector>

#include "engine/uop/bounds.h"
#include "engine/uop/gate.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/predicates.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/unspecified.h"

namespace assay::uop {
namespace {

constexpr OpSet strict_ops() {
  OpSet set;
  for (int i = 0; i < kOpCount; i++) {
    const Op op = static_cast<Op>(i);
    if (is_scalar(op) && op != Op::Where) set.insert(op);
  }
  return set;
}

Ref spread(Run& run, Ref u) {
  Graph& g = run.graph();
  for (const Ref s : u->src) {
    if (s->op == Op::Invalid) return g.make(Op::Invalid, u->dtype, {});
  }
  return nullptr;
}

// Whether the gate of operand i can speak for all of u. One without a value cannot where another
// operand may make u Invalid.
bool may_decide(Graph& g, Ref u, size_t i) {
  if (!may_be_unspecified(g, u->src[i]->src[0])) return true;
  for (size_t j = 0; j < u->src.size(); j++) {
    if (j != i && may_be_invalid(g, u->src[j])) return false;
  }
  return true;
}

Ref gate_outwards(Run& run, Ref u) {
  Graph& g = run.graph();
  for (size_t i = 0; i < u->src.size(); i++) {
    if (!is_gated(u->src[i]) || !may_decide(g, u, i)) continue;
    std::vector<Ref> sources(u->src.begin(), u->src.end());
    sources[i] = u->src[i]->src[1];
    const Ref inner = g.with_sources(u, sources);
    const Ref nothing = g.make(Op::Invalid, u->dtype, {});
    return g.make(Op::Where, u->dtype, {u->src[i]->src[0], inner, nothing});
  }
  return nullptr;
}

}  // namespace

const RuleSet& invalid_rules() {
  const Pat p = any("p");
  const Pat q = any("q");
  const Pat a = any("a");
  const Pat b = any("b");
  static const RuleSet rules(
      "invalid",
      {
          by("spread", kScalars, strict_ops(), spread, "a function of Invalid is Invalid",
             {Op::Invalid}),
          by("gate_outwards", kScalars, strict_ops(), gate_outwards,
             "a function of a gated operand is gated as a whole", {Op::Where}),
          // name, over, match, replace, when
          {"condition", kScalars, where(invalid(), unread("a"), unread("b")), invalid()},
          {"gated_condition",
           kScalars,
           where(where(p, q, invalid()), a, b),
           where(p, where(q, a, b), invalid()),
           {}},
          {"first_branch", kScalars, where(p, invalid(), a), where(!p, a, invalid()),
           test(kIsNotInvalid, {a})},
          {"both_branches", kScalars, where(unread("p"), invalid(), invalid()), invalid()},
          {"nested_gates", kScalars, where(p, where(q, a, invalid()), invalid()),
           where(p && q, a, invalid()), test(kNeverUnspecified, {q})},
          {"gate_of_branch", kScalars, where(p, where(q, a, invalid()), b),
           where(!p || q, where(p, a, b), invalid()),
           test(kNeverInvalid, {q}) && test(kNeverUnspecified, {q}) && test(kIsNotInvalid, {b})},
          {"gate_of_other_branch", kScalars, where(p, b, where(q, a, invalid())),
           where(p || q, where(p, b, a), invalid()),
           test(kNeverInvalid, {q}) && test(kNeverUnspecified, {q}) && test(kIsNotInvalid, {b})},
      });
  return rules;
}

}  // namespace assay::uop
