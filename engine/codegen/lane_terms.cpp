#include "engine/codegen/lane_terms.h"

#include <algorithm>
#include <array>

#include "engine/codegen/place.h"
#include "engine/uop/eval.h"

namespace assay::codegen {

using uop::Bounds;
using uop::DType;
using uop::floor_div;
using uop::Int128;
using uop::is_const;
using uop::Op;
using uop::Ref;
using uop::Sum;

namespace {

bool is_invalid(Ref u) { return u->op == Op::Invalid; }
bool is_number(Ref u, int64_t n) { return is_const(u) && static_cast<int64_t>(u->arg.bits) == n; }

// Each factor is 1 or -1, so that no constant can be divided out.
bool is_plain(const Sum& sum) {
  return std::ranges::all_of(sum.terms(),
                             [](const Sum::Term& t) { return t.factor == 1 || t.factor == -1; });
}

// The multiples of d in a sum, divided by it, and what is left.
struct Division {
  Sum quotient;
  Sum rest;
};

std::optional<Division> division(uop::Graph& g, const Sum& x, int64_t d) {
  Division parts;
  for (const Sum::Term& t : x.terms()) {
    const auto q = static_cast<int64_t>(floor_div(t.factor, d));
    const bool is_whole = t.factor == q * d;
    if (!(is_whole ? parts.quotient : parts.rest).add(g, t.atom, is_whole ? q : t.factor)) {
      return std::nullopt;
    }
  }
  parts.quotient.constant = static_cast<int64_t>(floor_div(x.constant, d));
  parts.rest.constant = x.constant - parts.quotient.constant * d;
  return parts;
}

}  // namespace

Ref LaneTerms::make(Op op, DType t, std::span<const Ref> src) {
  if (op == Op::Where) return select(t, src);
  if (std::ranges::any_of(src, is_invalid)) return g_.make(Op::Invalid, t, {});
  if (const Ref constant = folded(op, t, src)) return constant;
  const bool is_of_index = src[0]->dtype == DType::Index;
  if (t == DType::Index && is_of_index) return arithmetic(op, src);
  if (t != DType::Bool) return g_.make(op, t, src);
  if (src[0]->dtype == DType::Bool) return logic(op, src);
  const bool compares = op == Op::Lt || op == Op::Eq || op == Op::Ne;
  return is_of_index && compares ? compared(op, src[0], src[1]) : g_.make(op, t, src);
}

Ref LaneTerms::folded(Op op, DType t, std::span<const Ref> src) {
  std::array<uop::Value, 3> values;
  if (!std::ranges::all_of(src, is_const)) return nullptr;
  std::ranges::transform(src, values.begin(), [](Ref s) { return s->value(); });
  const std::optional<uop::Value> value = eval(op, t, std::span(values).first(src.size()));
  return value ? g_.constant(*value) : nullptr;
}

Ref LaneTerms::select(DType t, std::span<const Ref> src) {
  if (is_invalid(src[0])) return g_.make(Op::Invalid, t, {});
  if (is_const(src[0])) return src[src[0]->value().bits != 0 ? 1 : 2];
  return src[1] == src[2] ? src[1] : g_.make(Op::Where, t, src);
}

Ref LaneTerms::logic(Op op, std::span<const Ref> src) {
  if (op != Op::And && op != Op::Or) return g_.make(op, DType::Bool, src);
  if (src[0] == src[1]) return src[0];
  for (size_t i = 0; i < 2; ++i) {
    if (!is_const(src[i])) continue;
    const bool decides = (src[i]->value().bits != 0) == (op == Op::Or);
    return decides ? src[i] : src[1 - i];
  }
  return g_.make(op, DType::Bool, src);
}

// Lanes differ in a constant: what it is added to is looked at once for all of them.
Ref LaneTerms::canonical(Ref u) {
  const Shifted parts = shifted(u);
  if (parts.base == nullptr || parts.base->src.size() < 2) return u;
  const std::optional<Sum> sum = sum_of(g_, parts.base);
  return sum ? shift(build(g_, *sum), parts.constant) : u;
}

// u + constant.
Ref LaneTerms::shift(Ref u, int64_t constant) {
  const Shifted parts = shifted(u);
  const Int128 total = Int128{parts.constant} + constant;
  if (constant == 0) return u;
  if (total == 0 && parts.base != nullptr) return parts.base;
  const bool fits = uop::fits(DType::Index, total);
  const Ref number = g_.constant(DType::Index, fits ? static_cast<int64_t>(total) : constant);
  if (fits && parts.base == nullptr) return number;
  return g_.make(Op::Add, DType::Index, {fits ? parts.base : u, number});
}

Ref LaneTerms::plus(Ref a, Ref b) { return added(a, b, 1); }

Ref LaneTerms::added(Ref a, Ref b, int sign) {
  const Shifted right = shifted(b);
  const Int128 constant = Int128{right.constant} * sign;
  if (right.base == nullptr && uop::fits(DType::Index, constant)) {
    return shift(a, static_cast<int64_t>(constant));
  }
  if (is_const(a) && sign == 1) return shift(b, static_cast<int64_t>(a->arg.bits));
  std::optional<Sum> sum = sum_of(g_, a);
  const std::optional<Sum> other = sum_of(g_, b);
  if (sum && other && sum->add(g_, *other, sign)) return build(g_, *sum);
  return g_.make(sign == 1 ? Op::Add : Op::Sub, DType::Index, {a, b});
}

Ref LaneTerms::times(Ref a, Ref b) {
  if (is_const(a) && !is_const(b)) std::swap(a, b);
  if (is_number(b, 1)) return a;
  if (is_const(b)) {
    const std::optional<Sum> sum = sum_of(g_, a);
    Sum product;
    if (sum && product.add(g_, *sum, as_int(b->value()))) return build(g_, product);
  }
  return g_.make(Op::Mul, DType::Index, {a, b});
}

Ref LaneTerms::arithmetic(Op op, std::span<const Ref> src) {
  switch (op) {
    case Op::Add: return added(src[0], src[1], 1);
    case Op::Sub: return added(src[0], src[1], -1);
    case Op::Mul: return times(src[0], src[1]);
    case Op::Div:
    case Op::Mod: return divided(op, src[0], src[1]);
    default: return simplified_(g_.make(op, DType::Index, src));
  }
}

// Where what is no multiple of the divisor lies within it, nothing has to be divided.
Ref LaneTerms::divided(Op op, Ref a, Ref b) {
  const std::optional<Sum> x = is_const(b) ? sum_of(g_, a) : std::nullopt;
  const int64_t d = is_const(b) ? static_cast<int64_t>(b->arg.bits) : 0;
  std::optional<Division> parts;
  if (x && d > 0) parts = division(g_, *x, d);
  if (parts) {
    const Bounds rest = bounds(g_, parts->rest);
    if (rest.lo >= 0 && rest.hi < d)
      return build(g_, op == Op::Div ? parts->quotient : parts->rest);
  }
  return simplified_(g_.make(op, DType::Index, {a, b}));
}

// The sum is below zero, in the form that the rules give it.
Ref LaneTerms::below(const Sum& difference) {
  const Int128 limit = -Int128{difference.constant};
  if (difference.count != 1 || !uop::fits(DType::Index, limit)) return nullptr;
  const Sum::Term& t = difference.items[0];
  const bool is_above = t.factor < 0;
  // f*x < c is x < ceil(c / f), and -f*x < c is floor(-c / f) < x.
  const Int128 end = is_above ? floor_div(limit, t.factor) : -floor_div(-limit, t.factor);
  const Ref bound = g_.constant(uop::of_int(DType::Index, end));
  if (is_above) return g_.make(Op::Lt, DType::Bool, {bound, t.atom});
  return g_.make(Op::Lt, DType::Bool, {t.atom, bound});
}

// T + c against a constant, the constants on one side; null where the rules know more to do.
Ref LaneTerms::moved(Op op, Sum terms, Int128 limit, bool is_right) {
  limit -= terms.constant;
  if (!is_plain(terms) || !uop::fits(DType::Index, limit)) return nullptr;
  terms.constant = 0;
  const Ref sum = build(g_, terms);
  const Ref bound = g_.constant(uop::of_int(DType::Index, limit));
  if (is_right) return g_.make(op, DType::Bool, {sum, bound});
  return g_.make(op, DType::Bool, {bound, sum});
}

Ref LaneTerms::compared(Op op, Ref a, Ref b) {
  const std::optional<Sum> left = sum_of(g_, a);
  const std::optional<Sum> right = sum_of(g_, b);
  Sum difference;
  if (left && right && difference.add(g_, *left, 1) && difference.add(g_, *right, -1)) {
    const Bounds d = bounds(g_, difference);
    if (op == Op::Lt && d.hi < 0) return g_.constant(uop::of_bool(true));
    if (op == Op::Lt && d.lo >= 0) return g_.constant(uop::of_bool(false));
    if (op != Op::Lt && (d.lo > 0 || d.hi < 0)) return g_.constant(uop::of_bool(op == Op::Ne));
    Ref simple = op == Op::Lt ? below(difference) : nullptr;
    if (simple == nullptr && right->count == 0) simple = moved(op, *left, right->constant, true);
    if (simple == nullptr && left->count == 0) simple = moved(op, *right, left->constant, false);
    if (simple != nullptr) return simple;
  }
  return simplified_(g_.make(op, DType::Bool, {a, b}));
}

}  // namespace assay::codegen
