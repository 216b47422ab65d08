#include "engine/uop/given.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "engine/uop/bounds.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/sum.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

// What a condition says of one integer term.
struct Constraint {
  Ref term;
  Int128 lo;
  Int128 hi;
};

std::optional<Constraint> constraint_of(Graph& g, Ref condition) {
  if (condition->op != Op::Lt && condition->op != Op::Eq) return std::nullopt;
  const Ref a = condition->src[0];
  const Ref b = condition->src[1];
  if (!is_int(a->dtype) || (is_const(a) == is_const(b))) return std::nullopt;
  const Ref term = is_const(a) ? b : a;
  const Int128 c = as_int((is_const(a) ? a : b)->value());
  Constraint result = {term, bounds(g, term).lo, bounds(g, term).hi};
  const bool above = condition->op == Op::Eq || is_const(a);
  const bool below = condition->op == Op::Eq || is_const(b);
  const Int128 step = condition->op == Op::Eq ? 0 : 1;
  if (above) result.lo = std::max(result.lo, c + step);
  if (below) result.hi = std::min(result.hi, c - step);
  return result;
}

// Constraints on one term are one.
std::vector<Constraint> constraints_of(Graph& g, std::span<const Ref> conditions) {
  std::vector<Constraint> all;
  for (const Ref condition : conditions) {
    const std::optional<Constraint> c = constraint_of(g, condition);
    if (!c) continue;
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Constraint& o) { return o.term == c->term; });
    if (same == all.end()) {
      all.push_back(*c);
    } else {
      same->lo = std::max(same->lo, c->lo);
      same->hi = std::min(same->hi, c->hi);
    }
  }
  return all;
}

class Given {
 public:
  Given(Run& run, Ref u) : run_(run), g_(run.graph()), u_(u) { look(); }

  Ref result() const { return u_; }

  void assume_true(std::span<const Ref> conditions) {
    Substitution truths;
    for (const Ref c : conditions) {
      if (contains(c)) truths[c] = g_.constant(of_bool(true));
    }
    if (!truths.empty()) accept(simplified(substitute(g_, u_, truths)));
  }

  // The bounded term gets a variable of those bounds in its place; where the term is a sum, so does
  // what it says of one of its terms.
  void assume(const Constraint& c) {
    if (c.lo > c.hi || !fits(c.term->dtype, c.lo) || !fits(c.term->dtype, c.hi)) return;
    const Ref v = fresh(c);
    if (contains(c.term)) {
      try_with({{c.term, v}}, {{v, c.term}});
      return;
    }
    if (c.term->dtype != DType::Index || c.term->op != Op::Add) return;
    const std::optional<Sum> sum = sum_of(g_, c.term);
    if (!sum) return;
    for (const Sum::Term& t : sum->terms()) {
      if ((t.factor != 1 && t.factor != -1) || !contains(t.atom)) continue;
      // v = rest + factor * atom, so atom = factor * (v - rest).
      Sum atom;
      bool fits = atom.add(g_, v, t.factor) && atom.add_constant(Int128{sum->constant} * -t.factor);
      for (const Sum::Term& r : sum->terms()) {
        if (r.atom != t.atom) fits = fits && atom.add(g_, r.atom, Int128{r.factor} * -t.factor);
      }
      if (fits && try_with({{t.atom, build(g_, atom)}}, {{v, c.term}})) return;
    }
  }

 private:
  void look() {
    nodes_ = toposort(g_, u_);
    operations_ = count_operations(nodes_);
    std::sort(nodes_.begin(), nodes_.end());  // only searched, never walked
  }
  bool contains(Ref u) const { return std::binary_search(nodes_.begin(), nodes_.end(), u); }

  static size_t count_operations(std::span<const Ref> nodes) {
    return static_cast<size_t>(
        std::count_if(nodes.begin(), nodes.end(), [](Ref u) { return is_scalar(u->op); }));
  }

  Ref fresh(const Constraint& c) {
    for (int i = 0;; i++) {
      const Value lo = of_int(c.term->dtype, c.lo);
      const Value hi = of_int(c.term->dtype, c.hi);
      const Ref v = g_.variable(fmt::format("given.{}", i), lo, hi);
      if (!contains(v)) return v;
    }
  }

  Ref simplified(Ref u) {
    const Result<Ref> result = run_.rewrite(symbolic_rules(), u);
    return result.ok() ? result.value() : nullptr;
  }

  bool accept(Ref u) {
    if (u == nullptr || u == u_) return false;
    if (count_operations(toposort(g_, u)) >= operations_) return false;
    u_ = u;
    look();
    return true;
  }

  bool try_with(const Substitution& there, const Substitution& back) {
    const Ref inner = substitute(g_, u_, there);
    const Ref now = inner == u_ ? nullptr : simplified(inner);
    if (now == nullptr || now == inner) return false;
    return accept(simplified(substitute(g_, now, back)));
  }

  Run& run_;
  Graph& g_;
  Ref u_;
  std::vector<Ref> nodes_;
  size_t operations_ = 0;
};

// Reads happen whether or not the conditions hold, so where they read, and behind which gates, may
// not change by them: a variable stands for each, in the term and in what is said of it.
class Reads {
 public:
  explicit Reads(Graph& g) : g_(g) {}

  Ref hidden(Ref u) {
    find(u);
    return hide_.empty() ? u : substitute(g_, u, hide_);
  }
  Ref shown(Ref u) { return show_.empty() ? u : substitute(g_, u, show_); }

 private:
  // The outermost of them.
  void find(Ref root) {
    std::vector<Ref> left = {root};
    std::unordered_set<Ref> met;
    while (!left.empty()) {
      const Ref u = left.back();
      left.pop_back();
      if (!met.insert(u).second || hide_.contains(u)) continue;
      if (u->op == Op::Index || u->op == Op::Load) {
        const Ref v = g_.variable(fmt::format("given.read.{}", hide_.size()), u->dtype);
        hide_[u] = v;
        show_[v] = u;
        continue;
      }
      left.insert(left.end(), u->src.rbegin(), u->src.rend());
    }
  }

  Graph& g_;
  Substitution hide_;
  Substitution show_;
};

}  // namespace

std::vector<Ref> conjuncts(Ref condition) {
  std::vector<Ref> result;
  std::vector<Ref> left = {condition};
  while (!left.empty()) {
    const Ref u = left.back();
    left.pop_back();
    if (u->op == Op::And && u->dtype == DType::Bool) {
      left.push_back(u->src[1]);
      left.push_back(u->src[0]);
    } else {
      result.push_back(u);
    }
  }
  return result;
}

Ref conjunction(Graph& g, std::span<const Ref> conditions) {
  if (conditions.empty()) return g.constant(of_bool(true));
  Ref all = conditions[0];
  for (const Ref c : conditions.subspan(1)) all = g.alu(Op::And, {all, c});
  return all;
}

Ref given(Run& run, Ref u, std::span<const Ref> conditions) {
  Reads reads(run.graph());
  Given state(run, reads.hidden(u));
  std::vector<Ref> hidden;
  for (const Ref c : conditions) hidden.push_back(reads.hidden(c));
  state.assume_true(hidden);
  for (const Constraint& c : constraints_of(run.graph(), hidden)) state.assume(c);
  return reads.shown(state.result());
}

}  // namespace assay::uop
