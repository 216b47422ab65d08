// Floor quotients and remainders of index arithmetic by constants, and what else is true of
// division at every integer type.
#include <cstdlib>
#include <numeric>
#include <optional>

#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/sum.h"

namespace assay::uop {
namespace {

// x // d or x % d, with x as a sum and d > 1.
struct Division {
  Op op;
  Sum x;
  int64_t d;
};

std::optional<Division> division_of(Graph& g, Ref u) {
  if (!is_const(u->src[1])) return std::nullopt;
  const auto d = static_cast<int64_t>(as_int(u->src[1]->value()));
  if (d <= 1) return std::nullopt;
  std::optional<Sum> x = sum_of(g, u->src[0]);
  if (!x) return std::nullopt;
  return Division{u->op, *x, d};
}

int64_t floor_mod(int64_t a, int64_t d) {
  return static_cast<int64_t>(Int128{a} - floor_div(a, d) * d);
}

Ref divide(Graph& g, Op op, Ref x, int64_t d) {
  const Ref divisor = g.constant(Index, d);
  return g.alu(op, {x, divisor});
}

// sum + factor * u
Ref plus(Graph& g, Sum sum, Ref u, int64_t factor) {
  return sum.add(g, u, factor) ? build(g, sum) : nullptr;
}

// Whole multiples of d leave the dividend: into the quotient, or away.
Ref whole_multiples(Run& run, Ref u) {
  Graph& g = run.graph();
  const auto division = division_of(g, u);
  if (!division) return nullptr;
  const int64_t d = division->d;
  Sum quotient;
  Sum rest;
  bool moved = false;
  const auto part = [&](int64_t factor) {
    const bool out = factor % d == 0 || factor >= d || factor <= -d;
    return out ? static_cast<int64_t>(floor_div(factor, d)) : 0;
  };
  for (const Sum::Term& t : division->x.terms()) {
    const int64_t q = part(t.factor);
    moved = moved || q != 0;
    quotient.add(g, t.atom, q);
    rest.add(g, t.atom, t.factor - Int128{q} * d);
  }
  const auto q = static_cast<int64_t>(floor_div(division->x.constant, d));
  quotient.constant = q;
  rest.constant = floor_mod(division->x.constant, d);
  if (!moved && q == 0) return nullptr;
  const Ref x = build(g, rest);
  const Ref inner = divide(g, division->op, x, d);
  return division->op == Op::Mod ? inner : plus(g, quotient, inner, 1);
}

// Replaces each factor f by r, congruent to it modulo d, such that the new dividend has one
// quotient k for all values: x % d is then that dividend less k*d.
std::optional<Sum> with_residues(Graph& g, const Division& division, unsigned negative) {
  Sum residues;
  residues.constant = floor_mod(division.x.constant, division.d);
  for (int i = 0; i < division.x.count; i++) {
    const Sum::Term& t = division.x.items[i];
    int64_t r = floor_mod(t.factor, division.d);
    if (r != 0 && ((negative >> i) & 1) != 0) r -= division.d;
    if (!residues.add(g, t.atom, r)) return std::nullopt;
  }
  const Bounds b = bounds(g, residues);
  if (b.lo <= -kInfinite || b.hi >= kInfinite) return std::nullopt;
  const Int128 k = floor_div(b.lo, division.d);
  if (k != floor_div(b.hi, division.d)) return std::nullopt;
  if (!residues.add_constant(-k * division.d)) return std::nullopt;
  return residues;
}

Ref one_quotient(Run& run, Ref u) {
  Graph& g = run.graph();
  const auto division = division_of(g, u);
  if (!division || division->x.count > 5) return nullptr;
  for (unsigned negative = 0; negative < 1U << division->x.count; negative++) {
    const std::optional<Sum> residues = with_residues(g, *division, negative);
    if (!residues) continue;
    if (division->op == Op::Mod) return build(g, *residues);
    // (x - x % d) / d, exactly.
    Sum quotient;
    bool fits = true;
    const Int128 constant = Int128{division->x.constant} - residues->constant;
    quotient.constant = static_cast<int64_t>(constant / division->d);
    Sum whole = division->x;
    for (const Sum::Term& t : residues->terms())
      fits = fits && whole.add(g, t.atom, -Int128{t.factor});
    for (const Sum::Term& t : whole.terms()) {
      fits = fits && quotient.add(g, t.atom, t.factor / division->d);
    }
    return fits ? build(g, quotient) : nullptr;
  }
  return nullptr;
}

// g*X + k over d, where g divides d: what is below g drops out of the quotient.
Ref common_factor(Run& run, Ref u) {
  Graph& g = run.graph();
  const auto division = division_of(g, u);
  if (!division || division->x.count == 0) return nullptr;
  int64_t f = division->d;
  for (const Sum::Term& t : division->x.terms()) f = std::gcd(f, t.factor % f);
  if (f == 1) return nullptr;
  Sum x;
  for (const Sum::Term& t : division->x.terms()) x.add(g, t.atom, t.factor / f);
  x.constant = static_cast<int64_t>(floor_div(division->x.constant, f));
  const Ref dividend = build(g, x);
  const Ref inner = divide(g, division->op, dividend, division->d / f);
  if (division->op == Op::Div) return inner;
  Sum low;
  low.constant = floor_mod(division->x.constant, f);
  return plus(g, low, inner, f);
}

// f*X + R over d, where f divides d and R has one quotient by f: X // (d/f), or (X % (d/f))*f and
// the rest of R.
Ref small_rest_at(Graph& g, const Division& division, int64_t f) {
  Sum x;
  Sum rest;
  bool fits = true;
  for (const Sum::Term& t : division.x.terms()) {
    fits = fits && x.add(g, t.atom, floor_div(t.factor, f)) &&
           rest.add(g, t.atom, floor_mod(t.factor, f));
  }
  x.constant = static_cast<int64_t>(floor_div(division.x.constant, f));
  rest.constant = floor_mod(division.x.constant, f);
  const Bounds r = bounds(g, rest);
  if (!fits || r.lo <= -kInfinite || r.hi >= kInfinite) return nullptr;
  const Int128 k = floor_div(r.lo, f);
  if (k != floor_div(r.hi, f) || !x.add_constant(k)) return nullptr;
  const Ref dividend = build(g, x);
  const Ref inner = divide(g, division.op, dividend, division.d / f);
  if (division.op == Op::Div) return inner;
  if (!rest.add_constant(-k * f)) return nullptr;
  return plus(g, rest, inner, f);
}

Ref small_rest(Run& run, Ref u) {
  Graph& g = run.graph();
  const auto division = division_of(g, u);
  if (!division || division->x.count < 2) return nullptr;
  int64_t best = 0;
  for (const Sum::Term& t : division->x.terms()) {
    const int64_t f = std::gcd(division->d, t.factor % division->d);
    if (f <= 1 || f == division->d) continue;
    if (f > best && small_rest_at(g, *division, f) != nullptr) best = f;
  }
  return best == 0 ? nullptr : small_rest_at(g, *division, best);
}

// A remainder within a remainder is not needed if its modulus is a multiple of the outer one.
Ref inner_mod(Run& run, Ref u) {
  Graph& g = run.graph();
  const auto division = division_of(g, u);
  if (!division) return nullptr;
  Sum x;
  x.constant = division->x.constant;
  bool changed = false;
  for (const Sum::Term& t : division->x.terms()) {
    const bool is_mod = t.atom->op == Op::Mod && is_const(t.atom->src[1]);
    const Int128 m = is_mod ? as_int(t.atom->src[1]->value()) : 0;
    const bool drop = m != 0 && Int128{t.factor} * m % division->d == 0;
    changed = changed || drop;
    if (!drop) {
      if (!x.add(g, t.atom, t.factor)) return nullptr;
      continue;
    }
    const std::optional<Sum> inner = sum_of(g, t.atom->src[0]);
    if (!inner || !x.add(g, *inner, t.factor)) return nullptr;
  }
  if (!changed) return nullptr;
  const Ref dividend = build(g, x);
  return divide(g, Op::Mod, dividend, division->d);
}

}  // namespace

const RuleSet& div_mod_rules() {
  const Pat x = any("x");
  const Pat y = any("y");
  const Pat c = constant("c");
  const Pat d = constant("d");
  const Pat m = constant("m");
  const auto tdiv = [](const Pat& a, const Pat& b) { return Pat(Op::TDiv, {a, b}); };
  const auto tmod = [](const Pat& a, const Pat& b) { return Pat(Op::TMod, {a, b}); };
  static const RuleSet rules(
      "div_mod",
      {
          // name, over, match, replace, when
          {"mod_below", kInts, x % c, x, 0 <= lo(x) && hi(x) < c},
          {"mod_of_mod", kInts, (x % y) % y, x % y},
          {"tmod_below", kInts, tmod(x, c), x, 0 - c < lo(x) && hi(x) < c},
          {"tmod_of_tmod", kInts, tmod(tmod(x, y), y), tmod(x, y)},
          {"tdiv_to_div", kInts, tdiv(x, y), x / y, lo(x) >= 0 && lo(y) > 0},
          {"tmod_to_mod", kInts, tmod(x, y), x % y, lo(x) >= 0 && lo(y) > 0},
          {"tdiv_of_negative", kIndex, tdiv(x, c), ((x * -1) / c) * -1, hi(x) <= 0 && c > 0},
          {"tmod_of_negative", kIndex, tmod(x, c), ((x * -1) % c) * -1, hi(x) <= 0 && c > 0},
          {"tdiv_by_negative", kIndex, tdiv(x, c), tdiv(x, 0 - c) * -1, c < 0},
          {"tmod_by_negative", kIndex, tmod(x, c), tmod(x, 0 - c), c < 0},
          {"div_by_negative", kIndex, x / c, (x * -1) / (0 - c), c < 0},
          {"mod_by_negative", kIndex, x % c, ((x * -1) % (0 - c)) * -1, c < 0},
          {"div_of_div", kIndex, (x / c) / d, x / (c * d), d > 0},
          {"div_of_div_plus", kIndex, (x / c + m) / d, (x + m * c) / (c * d), d > 0},
          {"div_of_mod", kIndex, (x % m) / c, (x / c) % (m / c), c > 0 && m > 0 && m % c == 0},
          by("inner_mod", kIndex, {Op::Mod}, inner_mod,
             "(y % m)*f + z modulo d is y*f + z modulo d, where d divides m*f", {Op::Const}),
          by("whole_multiples", kIndex, {Op::Div, Op::Mod}, whole_multiples,
             "(d*q + r) // d is q + r // d and (d*q + r) % d is r % d, for d > 0", {Op::Const}),
          by("one_quotient", kIndex, {Op::Div, Op::Mod}, one_quotient,
             "x // d and x % d are sums, where factors congruent to those of x modulo d make a sum "
             "whose bounds have one quotient by d",
             {Op::Const}),
          by("common_factor", kIndex, {Op::Div, Op::Mod}, common_factor,
             "(f*X + k) // (f*e) is (X + k // f) // e and (f*X + k) % (f*e) is "
             "((X + k // f) % e)*f + k % f, for f, e > 0",
             {Op::Const}),
          by("small_rest", kIndex, {Op::Div, Op::Mod}, small_rest,
             "(f*X + R) // (f*e) is X // e and (f*X + R) % (f*e) is (X % e)*f + R, where the "
             "bounds "
             "of R lie within 0 and f - 1, for f, e > 0; likewise with one quotient k of R by f",
             {Op::Const}),
      });
  return rules;
}

}  // namespace assay::uop
