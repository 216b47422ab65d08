// Conversions. A cast that loses something cannot be skipped.
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"

namespace assay::uop {
namespace {

Ref same_type(Run&, Ref u) { return u->dtype == u->src[0]->dtype ? u->src[0] : nullptr; }

// Casts go by value, so one that keeps every value changes nothing for the next. Among integers the
// low bits are enough.
Ref cast_of_cast(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref inner = u->src[0];
  if (inner->op != Op::Cast) return nullptr;
  const DType from = inner->src[0]->dtype;
  const DType via = inner->dtype;
  const bool low_bits = is_int(from) && is_fixed_int(via) && is_fixed_int(u->dtype) &&
                        bits_of(u->dtype) <= bits_of(via);
  if (!is_lossless(from, via) && !low_bits) return nullptr;
  return g.make(Op::Cast, u->dtype, {inner->src[0]});
}

Ref bitcast_of_bitcast(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref inner = u->src[0];
  if (inner->op != Op::Bitcast || bits_of(inner->dtype) != bits_of(u->dtype) ||
      bits_of(inner->src[0]->dtype) != bits_of(u->dtype)) {
    return nullptr;
  }
  return g.make(Op::Bitcast, u->dtype, {inner->src[0]});
}

// A lossless cast between integers keeps order: both sides can be compared before it.
Ref compare_of_casts(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref a = u->src[0];
  const Ref b = u->src[1];
  const Ref inner = a->op == Op::Cast ? a->src[0] : (b->op == Op::Cast ? b->src[0] : nullptr);
  if (inner == nullptr || !is_int(inner->dtype) || !is_lossless(inner->dtype, a->dtype)) {
    return nullptr;
  }
  const auto uncast = [&](Ref s) -> Ref {
    if (s->op == Op::Cast && s->src[0]->dtype == inner->dtype) return s->src[0];
    if (is_const(s) && fits(inner->dtype, as_int(s->value()))) {
      return g.constant(of_int(inner->dtype, as_int(s->value())));
    }
    return nullptr;
  };
  const Ref x = uncast(a);
  const Ref y = uncast(b);
  return x != nullptr && y != nullptr ? g.alu(u->op, {x, y}) : nullptr;
}

}  // namespace

const RuleSet& cast_rules() {
  const Pat x = any("x");
  const Pat p = any("p", kBool);
  static const RuleSet rules(
      "cast",
      {
          by("same_type", kScalars, {Op::Cast, Op::Bitcast}, same_type,
             "a cast or bitcast to the type a term has is the term"),
          by("cast_of_cast", kScalars, {Op::Cast}, cast_of_cast,
             "a cast of a cast is one cast, where the inner one keeps every value or, among "
             "integers, the bits that the outer one keeps",
             {Op::Cast}),
          by("bitcast_of_bitcast", kScalars, {Op::Bitcast}, bitcast_of_bitcast,
             "bitcasts between equal widths are one bitcast", {Op::Bitcast}),
          by("compare_of_casts", kInts, {Op::Lt, Op::Eq, Op::Ne}, compare_of_casts,
             "integers compare as they do after a lossless cast", {Op::Cast}),
          // name, over, match, replace, when
          {"to_bool", kNumbers, cast(x).as(Bool), x != 0},
          {"bool_eq_one", kNumbers, cast(p) == 1, p},
          {"bool_eq_zero", kNumbers, cast(p) == 0, !p},
          {"bool_ne_one", kNumbers, cast(p) != 1, !p},
          {"bool_ne_zero", kNumbers, cast(p) != 0, p},
          {"bool_lt_one", kNumbers, cast(p) < 1, !p},
          {"zero_lt_bool", kNumbers, 0 < cast(p), p},
      });
  return rules;
}

}  // namespace assay::uop
