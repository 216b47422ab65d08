#include <algorithm>

#include "engine/uop/value.h"
#include "props/kernel/terms.h"

// What each operation is as a form or as cases.
namespace assay::props::kernel {

using uop::DType;
using uop::Op;
using uop::Ref;

namespace {

// Cases that a condition may have before it counts as data.
constexpr size_t kMostCases = 64;

bool is_number(Ref u) { return uop::is_int(u->dtype) || u->dtype == DType::Bool; }

}  // namespace

std::optional<Cases> both(const Cases& a, const Cases& b) {
  if (a.size() * b.size() > kMostCases) return std::nullopt;
  Cases all;
  for (const Case& x : a) {
    for (const Case& y : b) {
      all.push_back(x);
      all.back().insert(all.back().end(), y.begin(), y.end());
    }
  }
  return all;
}

const Form& Terms::form(Ref u) {
  const auto known = forms_.find(u);
  if (known != forms_.end()) return known->second;
  Form computed = compute(u);
  return forms_.emplace(u, std::move(computed)).first->second;
}

const Cases& Terms::condition(Ref u, bool holds) {
  ByNode<Cases>& map = conditions_[holds ? 1 : 0];
  const auto known = map.find(u);
  if (known != map.end()) return known->second;
  Cases computed = compute_condition(u, holds);
  if (computed.size() > kMostCases) computed = free_condition(u, holds);
  return map.emplace(u, std::move(computed)).first->second;
}

Form Terms::leaf(Ref u) {
  if (u->op == Op::Const) return number_form(uop::as_int(u->value()));
  const auto bounds = u->arg.numbers();
  Interval range = {uop::min_int(u->dtype), uop::max_int(u->dtype)};
  if (bounds.size() == 2) {
    const auto bound = [&](size_t i) {
      return uop::as_int({u->dtype, static_cast<uint64_t>(bounds[i])});
    };
    range = {bound(0), bound(1)};
  }
  const int32_t atom = add_atom(range, 0);
  atoms_[static_cast<size_t>(atom)].node = u;
  return atom_form(atom);
}

Form Terms::compute(Ref u) {
  switch (u->op) {
    case Op::Const:
    case Op::Variable: return leaf(u);
    case Op::After: return form(u->src[0]);
    case Op::Bitcast:
    case Op::Cast: {
      const Ref x = u->src[0];
      if (!is_number(x)) return free_form(u);
      if (u->dtype != DType::Bool) {
        const Form inner = form(x);
        return wrapped(inner, u->dtype);
      }
      break;
    }
    case Op::Where:
      if (u->dtype != DType::Bool) {
        const Form a = form(u->src[1]);
        const Form b = form(u->src[2]);
        const Cases yes = condition(u->src[0], true);
        const Cases no = condition(u->src[0], false);
        return selected(yes, a, no, b);
      }
      break;
    case Op::Neg: return wrapped(scaled(form(u->src[0]), -1), u->dtype);
    case Op::Fma: {
      const Form a = form(u->src[0]);
      const Form b = form(u->src[1]);
      const Form product = exact_product(a, b);
      const Form c = form(u->src[2]);
      return wrapped(sum(product, c), u->dtype);
    }
    default: break;
  }
  if (u->dtype != DType::Bool)
    return u->src.size() == 2 && u->op != Op::Index && u->op != Op::Load ? compute_binary(u)
                                                                         : free_form(u);
  const Cases yes = condition(u, true);
  const Cases no = condition(u, false);
  return selected(yes, number_form(1), no, number_form(0));
}

Form Terms::compute_binary(Ref u) {
  if (!is_number(u->src[0]) || !is_number(u->src[1])) return free_form(u);
  const Form a = form(u->src[0]);
  const Form b = form(u->src[1]);
  switch (u->op) {
    case Op::Add: return wrapped(sum(a, b), u->dtype);
    case Op::Sub: return wrapped(sum(a, b, -1), u->dtype);
    case Op::Mul: return wrapped(exact_product(a, b), u->dtype);
    case Op::Div:
      if (range_of(b).lo > 0) return divided(a, b).first;
      break;
    case Op::Mod:
      if (range_of(b).lo > 0) return divided(a, b).second;
      break;
    case Op::TDiv:
    case Op::TMod:
      if (range_of(b).lo > 0) return truncated(u, a, b);
      break;
    case Op::Shl:
    case Op::Shr: return shifted(u, a, b);
    case Op::And: return masked(u, a, b);
    case Op::Xor: return crossed(u, a, b);
    case Op::Max:
    case Op::Min: {
      const Form less = sum(a, b, -1);
      const Cases is_a_less = {{at_most(less, -1)}};
      const Cases is_a_not = {{at_least(less, 0)}};
      return u->op == Op::Max ? selected(is_a_less, b, is_a_not, a)
                              : selected(is_a_less, a, is_a_not, b);
    }
    default: break;
  }
  return free_form(u);
}

Form Terms::shifted(Ref u, const Form& a, const Form& by) {
  const Interval range = range_of(by);
  if (!range.is_within(0, uop::bits_of(u->dtype) - 1)) return free_form(u);
  const auto shifted_by = [&](Int128 n) {
    const Int128 power = Int128{1} << static_cast<int>(n);
    return u->op == Op::Shl ? wrapped(scaled(a, power), u->dtype) : divided(a, power).first;
  };
  Form all = shifted_by(range.lo);
  for (Int128 n = range.lo + 1; n <= range.hi; n++) {
    const Form one = shifted_by(n);
    all = selected({{equal_to(by, n)}}, one, {{at_most(by, n - 1)}}, all);
  }
  return all;
}

// Cut towards zero.
Form Terms::truncated(Ref u, const Form& n, const Form& d) {
  const Form down = divided(n, d).first;
  Form quotient = down;
  if (range_of(n).lo < 0) {
    const Form up = scaled(divided(scaled(n, -1), d).first, -1);
    quotient = selected({{at_least(n, 0)}}, down, {{at_most(n, -1)}}, up);
  }
  return u->op == Op::TDiv ? quotient : sum(n, exact_product(quotient, d), -1);
}

// a & (2^k - 1) is what is left of a by 2^k.
Form Terms::masked(Ref u, const Form& a, const Form& b) {
  if ((a.is_constant() || is_mask(a)) && !b.is_constant() && !is_mask(b)) return masked(u, b, a);
  if (is_mask(b)) return selected({{equal_to(b, 0)}}, number_form(0), {{equal_to(b, -1)}}, a);
  const Int128 n = b.constant;
  if (b.is_constant() && n >= 0 && (n & (n + 1)) == 0) return divided(a, n + 1).second;
  const Form value = free_form(u);
  Interval& range = atoms_[static_cast<size_t>(value.terms[0].atom)].range;
  for (const Form& side : {a, b}) {
    const Interval r = range_of(side);
    if (r.lo >= 0) range = {0, std::min(range.hi, r.hi)};
  }
  return value;
}

// What is known of a ^ b is its sign, which terms ask for; all of it where b is all ones or none.
Form Terms::crossed(Ref u, const Form& a, const Form& b) {
  if (is_mask(b)) {
    const Form flipped = sum(number_form(-1), a, -1);
    return selected({{equal_to(b, 0)}}, a, {{equal_to(b, -1)}}, flipped);
  }
  if (is_mask(a)) return crossed(u, b, a);
  const Form value = free_form(u);
  Cases cases;
  for (const bool is_a_negative : {false, true}) {
    for (const bool is_b_negative : {false, true}) {
      const auto has_sign = [](const Form& x, bool is_negative) {
        return is_negative ? at_most(x, -1) : at_least(x, 0);
      };
      cases.push_back({has_sign(a, is_a_negative), has_sign(b, is_b_negative),
                       has_sign(value, is_a_negative != is_b_negative)});
    }
  }
  const int32_t atom = value.terms[0].atom;
  define(atom, std::move(cases));
  return value;
}

Cases Terms::free_condition(Ref u, bool holds) { return {{equal_to(free_form(u), holds ? 1 : 0)}}; }

Cases Terms::compared(Ref u, bool holds) {
  const Form a = form(u->src[0]);
  const Form difference = sum(a, form(u->src[1]), -1);
  if (u->op == Op::Lt) return {{holds ? at_most(difference, -1) : at_least(difference, 0)}};
  if ((u->op == Op::Eq) == holds) return {{equal_to(difference, 0)}};
  return {{at_most(difference, -1)}, {at_least(difference, 1)}};
}

Cases Terms::compute_condition(Ref u, bool holds) {
  const auto either = [&](Ref first, bool p, Ref second, bool q) {
    Cases a = condition(first, p);
    const Cases& b = condition(second, q);
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  // Whether (first is p and second is q), or data where that is too much.
  const auto all = [&](Ref first, bool p, Ref second, bool q) {
    const Cases a = condition(first, p);
    const std::optional<Cases> one = both(a, condition(second, q));
    return one ? *one : free_condition(u, holds);
  };
  const auto src = [&](size_t i) { return u->src[i]; };
  switch (u->op) {
    case Op::Const: return (u->arg.bits != 0) == holds ? Cases{{}} : Cases{};
    case Op::After: return condition(src(0), holds);
    case Op::Not: return condition(src(0), !holds);
    case Op::Min:
    case Op::And:
      if (holds) return all(src(0), true, src(1), true);
      return either(src(0), false, src(1), false);
    case Op::Max:
    case Op::Or:
      if (!holds) return all(src(0), false, src(1), false);
      return either(src(0), true, src(1), true);
    case Op::Lt:
    case Op::Eq:
    case Op::Ne:
      if (!is_number(src(0))) return free_condition(u, holds);
      return compared(u, holds);
    case Op::Xor:
    case Op::Where: {
      Cases one = all(src(0), true, src(1), u->op == Op::Xor ? !holds : holds);
      const Cases other = all(src(0), false, src(u->op == Op::Xor ? 1 : 2), holds);
      one.insert(one.end(), other.begin(), other.end());
      return one;
    }
    case Op::Cast: {
      if (!is_number(src(0))) return free_condition(u, holds);
      if (src(0)->dtype == DType::Bool) return condition(src(0), holds);
      const Form x = form(src(0));
      if (!holds) return {{equal_to(x, 0)}};
      return {{at_most(x, -1)}, {at_least(x, 1)}};
    }
    default: return free_condition(u, holds);
  }
}

}  // namespace assay::props::kernel
