#include "oracles/smt/products.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "oracles/smt/evaluate.h"

namespace assay::smt {
namespace {

// A list that holds each term once, in the order in which they came.
void add_once(std::vector<Term>& list, Term t) {
  if (std::find(list.begin(), list.end(), t) == list.end()) list.push_back(t);
}

struct Quotient {
  Term dividend, divisor;
  Term quotient, rest;
};

class Products {
 public:
  explicit Products(Formula& f) : f_(f) {}

  bool add(Lemmas lemmas) {
    collect();
    if (factors_.empty()) return false;
    nest();
    for (size_t i = 0; i < quotients_.size(); i++) take_whole(Quotient(quotients_[i]));
    for (const Quotient& q : quotients_) define(q);
    for (size_t i = 0; i < quotients_.size(); i++) {
      for (size_t j = i + 1; j < quotients_.size(); j++) same(quotients_[i], quotients_[j]);
    }
    if (lemmas == Lemmas::Order) order();
    return true;
  }

 private:
  void collect() {
    for (const uint32_t id : needed_nodes(f_)) {
      const Term t = {id};
      if (!is_nonlinear(f_, t)) continue;
      const Term a = f_.operands(t)[0];
      const Term b = f_.operands(t)[1];
      if (f_.node(t).fn == Fn::Mul) {
        add_once(others_, a);
        add_once(factors_, b);
        pairs_.emplace_back(a, b);
        continue;
      }
      add_once(factors_, b);
      add_quotient(a, b);
    }
  }

  Quotient add_quotient(Term a, Term b) {
    const Quotient q = {a, b, f_.make(Fn::Div, {a, b}), f_.make(Fn::Mod, {a, b})};
    const auto is_it = [&](const Quotient& p) { return p.dividend == a && p.divisor == b; };
    if (std::any_of(quotients_.begin(), quotients_.end(), is_it)) return q;
    quotients_.push_back(q);
    add_once(others_, q.quotient);
    add_once(others_, q.rest);
    add_once(others_, f_.mul(q.quotient, b));
    return q;
  }

  // Each quotient by what is a product, or is one if it can be divided without a rest, is a
  // quotient of a quotient by its factors.
  void nest() {
    const std::vector<Quotient> given = quotients_;
    for (const Quotient& q : given) {
      if (f_.node(q.divisor).fn == Fn::Mul) {
        const Term a = f_.operands(q.divisor)[0];
        const Term b = f_.operands(q.divisor)[1];
        nest(q, a, b, f_.truth(true));
        nest(q, b, a, f_.truth(true));
      }
      for (const Quotient& p : given) {
        if (p.dividend != q.divisor) continue;
        nest(q, p.divisor, p.quotient, f_.equal(p.rest, f_.integer(0)));
      }
    }
  }

  // Of x = c*y + s and y = k*z + r: x = (c*k)*z + (c*r + s), where c*r + s lies between 0 and c*k
  // if k > 0, or s is 0. And by c, x leaves what its rest by c*k leaves.
  void nest(const Quotient& q, Term c, Term k, Term is_product) {
    const Term zero = f_.integer(0);
    const Quotient outer = add_quotient(q.dividend, c);
    const Quotient inner = add_quotient(outer.quotient, k);
    add_once(factors_, c);
    add_once(factors_, k);
    add_once(others_, zero);
    add_once(others_, c);
    add_once(others_, k);
    const Term is_negative = f_.both(f_.lt(k, zero), f_.equal(outer.rest, zero));
    const Term is_nested = f_.either(f_.lt(zero, k), is_negative);
    const Term has_factors = f_.both(is_product, f_.no(f_.equal(c, zero)));
    const Term given = f_.both(has_factors, is_nested);
    const Term rest = f_.add(f_.mul(c, inner.rest), outer.rest);
    f_.require(f_.implies(given, f_.equal(q.quotient, inner.quotient)));
    f_.require(f_.implies(given, f_.equal(q.rest, rest)));
    // A product is above zero if both factors are on one side of it.
    const Term is_some = f_.both(has_factors, f_.no(f_.equal(q.divisor, zero)));
    const Term is_like = f_.equal(f_.lt(zero, c), f_.lt(zero, k));
    f_.require(f_.implies(is_some, f_.equal(f_.lt(zero, q.divisor), is_like)));
    const Quotient left = add_quotient(q.rest, c);
    f_.require(f_.implies(given, f_.equal(left.quotient, inner.rest)));
    f_.require(f_.implies(has_factors, f_.equal(left.rest, outer.rest)));
  }

  // What a sum is of: of each addend whether it is added or taken away.
  void collect_addends(Term t, bool is_added, std::vector<std::pair<Term, bool>>& all) {
    const Fn fn = f_.node(t).fn;
    if (fn != Fn::Add && fn != Fn::Sub && fn != Fn::Neg) {
      all.emplace_back(t, is_added);
      return;
    }
    const std::vector<Term> operands(f_.operands(t).begin(), f_.operands(t).end());
    for (size_t i = 0; i < operands.size(); i++) {
      const bool flips = fn == Fn::Neg || (fn == Fn::Sub && i > 0);
      collect_addends(operands[i], is_added != flips, all);
    }
  }

  // A term as a multiple of a divisor and what is left, if something holds.
  struct Parts {
    Term multiple;
    Term left;
    Term given;
  };

  // How often a divisor is in a factor of which it is known to be one, and if what holds.
  std::optional<std::pair<Term, Term>> times_in(Term factor, Term divisor) {
    if (factor == divisor) return std::pair(f_.integer(1), f_.truth(true));
    for (const Quotient& q : quotients_) {
      if (q.divisor != divisor || q.dividend != factor) continue;
      return std::pair(q.quotient, f_.equal(q.rest, f_.integer(0)));
    }
    return std::nullopt;
  }

  // Of a*(b*n), and of x % (b*n), which is x less a multiple of b*n.
  std::optional<Parts> parts_of(Term t, Term divisor) {
    const Fn fn = f_.node(t).fn;
    if (fn != Fn::Mul && fn != Fn::Mod) return std::nullopt;
    const Term a = f_.operands(t)[0];
    const Term b = f_.operands(t)[1];
    if (const auto times = times_in(b, divisor)) {
      const auto [n, given] = *times;
      if (fn == Fn::Mul) return Parts{f_.mul(a, n), f_.integer(0), given};
      const Term quotient = f_.mul(f_.make(Fn::Div, {a, b}), n);
      const Term is_defined = f_.no(f_.equal(b, f_.integer(0)));
      return Parts{f_.make(Fn::Neg, {quotient}), a, f_.both(given, is_defined)};
    }
    if (fn == Fn::Mod) return std::nullopt;
    const auto times = times_in(a, divisor);
    if (!times) return std::nullopt;
    return Parts{f_.mul(b, times->first), f_.integer(0), times->second};
  }

  // Of x = b*u + y, x divided by b is u more than y is, and leaves the same.
  void take_whole(const Quotient& q) {
    std::vector<std::pair<Term, bool>> addends;
    collect_addends(q.dividend, true, addends);
    const Term zero = f_.integer(0);
    Term whole = zero;
    Term rest = zero;
    Term given = f_.no(f_.equal(q.divisor, zero));
    for (const auto& [t, is_added] : addends) {
      const auto found = parts_of(t, q.divisor);
      const Parts parts = found ? *found : Parts{zero, t, f_.truth(true)};
      given = f_.both(given, parts.given);
      whole = is_added ? f_.add(whole, parts.multiple) : f_.sub(whole, parts.multiple);
      rest = is_added ? f_.add(rest, parts.left) : f_.sub(rest, parts.left);
    }
    if (whole == zero) return;
    const Quotient nothing = {zero, q.divisor, zero, zero};
    const Quotient less = rest == zero ? nothing : add_quotient(rest, q.divisor);
    f_.require(f_.implies(given, f_.equal(q.quotient, f_.add(whole, less.quotient))));
    f_.require(f_.implies(given, f_.equal(q.rest, less.rest)));
  }

  // Equals by equals.
  void same(const Quotient& p, const Quotient& q) {
    const Term dividends = f_.equal(p.dividend, q.dividend);
    const Term given = f_.both(dividends, f_.equal(p.divisor, q.divisor));
    f_.require(f_.implies(given, f_.equal(p.quotient, q.quotient)));
    f_.require(f_.implies(given, f_.equal(p.rest, q.rest)));
  }

  // a = b*q + r, and r lies between 0 and b.
  void define(const Quotient& q) {
    const Term zero = f_.integer(0);
    const Term is_zero = f_.equal(q.divisor, zero);
    const Term whole = f_.add(f_.mul(q.quotient, q.divisor), q.rest);
    f_.require(f_.either(is_zero, f_.equal(q.dividend, whole)));
    const Term not_below = f_.le(zero, q.rest);
    const Term below = f_.lt(q.rest, q.divisor);
    const Term not_above = f_.le(q.rest, zero);
    const Term above = f_.lt(q.divisor, q.rest);
    const Term positive = f_.both(not_below, below);
    const Term negative = f_.both(not_above, above);
    f_.require(f_.either(is_zero, f_.either(positive, negative)));
  }

  // Of each factor and all that is multiplied, or might be.
  void order() {
    // a*b, where b is c*q + r, is (a*q)*c + a*r.
    for (const auto& [a, b] : pairs_) {
      for (const Quotient& q : quotients_) {
        if (q.dividend == b) add_once(others_, f_.mul(a, q.quotient));
      }
    }
    for (const Term b : factors_) {
      for (const Quotient& q : quotients_) {
        if (q.dividend == b) split(b, q);
      }
      for (size_t i = 0; i < others_.size(); i++) {
        for (size_t j = i + 1; j < others_.size(); j++) order(b, others_[i], others_[j]);
      }
    }
  }

  // b is c*q + r, so u*b is u*c*q + u*r.
  void split(Term b, const Quotient& q) {
    const Term zero = f_.integer(0);
    const Term is_zero = f_.equal(q.divisor, zero);
    const Term whole = f_.mul(q.quotient, q.divisor);
    for (const Term u : others_) {
      const Term left = f_.mul(u, b);
      const Term first = f_.mul(u, whole);
      const Term second = f_.mul(u, q.rest);
      f_.require(f_.either(is_zero, f_.equal(left, f_.add(first, second))));
      f_.require(f_.implies(f_.equal(q.rest, zero), f_.equal(second, zero)));
    }
  }

  // Of u < v and b > 0, u*b + b <= v*b; and likewise for the other signs, and of equals.
  void order(Term b, Term u, Term v) {
    const Term zero = f_.integer(0);
    const Term ub = f_.mul(u, b);
    const Term vb = f_.mul(v, b);
    const Term next_u = f_.add(ub, b);
    const Term next_v = f_.add(vb, b);
    const Term is_positive = f_.lt(zero, b);
    const Term is_negative = f_.lt(b, zero);
    const Term is_one = f_.equal(u, v);
    const Term u_first = f_.lt(u, v);
    const Term v_first = f_.lt(v, u);
    const auto given = [&](Term sign, Term first, Term conclusion) {
      f_.require(f_.implies(f_.both(sign, first), conclusion));
    };
    f_.require(f_.implies(is_one, f_.equal(ub, vb)));
    given(is_positive, u_first, f_.le(next_u, vb));
    given(is_positive, v_first, f_.le(next_v, ub));
    given(is_negative, u_first, f_.le(vb, next_u));
    given(is_negative, v_first, f_.le(ub, next_v));
  }

  Formula& f_;
  std::vector<Term> factors_;  // what is multiplied or divided by
  std::vector<Term> others_;   // what is multiplied, or might be
  std::vector<Quotient> quotients_;
  std::vector<std::pair<Term, Term>> pairs_;  // that are multiplied
};

}  // namespace

bool is_nonlinear(const Formula& f, Term t) {
  const Fn fn = f.node(t).fn;
  if (f.sort(t) != kInt || (fn != Fn::Mul && fn != Fn::Div && fn != Fn::Mod)) return false;
  const auto x = f.operands(t);
  return !f.is_number(x[1]) && (fn != Fn::Mul || !f.is_number(x[0]));
}

bool add_products(Formula& f, Lemmas lemmas) { return Products(f).add(lemmas); }

}  // namespace assay::smt
