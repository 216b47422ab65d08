// Sums and products of integers: like terms meet, constants stand last, and a remainder with its
// quotient becomes what was divided.
#include <optional>

#include "engine/uop/rewrite.h"
#include "engine/uop/rules/predicates.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/sum.h"

namespace assay::uop {
namespace {

bool is_division(Ref u, Op op) { return u->op == op && is_const(u->src[1]); }
int64_t divisor(Ref u) { return static_cast<int64_t>(as_int(u->src[1]->value())); }

// The sum as it stands, or null where it stands in that form already.
Ref collect(Run& run, Ref u) {
  Graph& g = run.graph();
  if (u->op == Op::Mul && !(is_const(u->src[1]) && u->src[0]->op == Op::Add)) return nullptr;
  const std::optional<Sum> sum = sum_of(g, u);
  return sum ? build(g, *sum) : nullptr;
}

// a - b, if every factor and the constant is a multiple of m.
std::optional<Sum> congruent_difference(Graph& g, const Sum& a, const Sum& b, Int128 m) {
  Sum d = a;
  if (!d.add(g, b, -1) || d.constant % m != 0) return std::nullopt;
  for (const Sum::Term& t : d.terms()) {
    if (t.factor % m != 0) return std::nullopt;
  }
  return d;
}

// b has the quotient x // c as a term: b // m is then (x + c*rest) // (c*m), which differs from
// p // (c*m) by a sum s where p - (x + c*rest) is c*m*s. What is wanted is b + m*s.
std::optional<Sum> divided_through(Graph& g, const Sum& b, Ref quotient, const Sum& p, int64_t m) {
  const int64_t c = divisor(quotient);
  std::optional<Sum> whole = sum_of(g, quotient->src[0]);
  Sum rest = b;
  if (!whole || !rest.add(g, quotient, -1) || !whole->add(g, rest, c)) return std::nullopt;
  std::optional<Sum> shift = congruent_difference(g, p, *whole, Int128{c} * m);
  if (!shift) return std::nullopt;
  shift->constant /= c;
  for (int i = 0; i < shift->count; i++) shift->items[i].factor /= c;
  return shift->add(g, b, 1) ? shift : std::nullopt;
}

// The b that quotient `q` is the floor quotient of by m and that leaves the same remainder as
// `base`: only such congruence is needed to put the two together.
std::optional<Sum> divided_by(Graph& g, Ref q, Ref base, int64_t m) {
  if (!is_division(q, Op::Div)) return std::nullopt;
  const std::optional<Sum> p = sum_of(g, q->src[0]);
  const std::optional<Sum> b = sum_of(g, base);
  if (!p || !b) return std::nullopt;
  if (divisor(q) == m) return congruent_difference(g, *p, *b, m) ? p : std::nullopt;
  for (const Sum::Term& t : b->terms()) {
    if (t.factor != 1 || !is_division(t.atom, Op::Div)) continue;
    if (divisor(t.atom) <= 0 || Int128{divisor(t.atom)} * m != divisor(q)) continue;
    if (const auto found = divided_through(g, *b, t.atom, *p, m)) return found;
  }
  return std::nullopt;
}

// sum - (its terms i and j) + s * b.
Ref replace_pair(Graph& g, const Sum& sum, int i, int j, const Sum& b, int64_t s) {
  Sum result;
  bool fits = result.add_constant(sum.constant);
  for (int k = 0; k < sum.count; k++) {
    const Sum::Term& t = sum.items[k];
    if (k != i && k != j) fits = fits && result.add(g, t.atom, t.factor);
  }
  return fits && result.add(g, b, s) ? build(g, result) : nullptr;
}

// (b % m)*s + q*(m*s) where q is b // m, or (b // m) % e.
Ref join_pair(Graph& g, const Sum& sum, int i, int j) {
  const Sum::Term& mod = sum.items[i];
  const Sum::Term& quotient = sum.items[j];
  const int64_t m = divisor(mod.atom);
  const Ref base = mod.atom->src[0];
  if (m <= 0 || Int128{mod.factor} * m != quotient.factor) return nullptr;
  if (const auto b = divided_by(g, quotient.atom, base, m)) {
    return replace_pair(g, sum, i, j, *b, mod.factor);
  }
  if (!is_division(quotient.atom, Op::Mod) || divisor(quotient.atom) <= 0) return nullptr;
  const auto b = divided_by(g, quotient.atom->src[0], base, m);
  const Int128 wide = Int128{divisor(quotient.atom)} * m;
  if (!b || !fits(Index, wide)) return nullptr;
  Sum joined;
  const Ref all = build(g, *b);
  const Ref d = g.constant(of_int(Index, wide));
  joined.add(g, g.alu(Op::Mod, {all, d}), 1);
  return replace_pair(g, sum, i, j, joined, mod.factor);
}

Ref recombine(Run& run, Ref u) {
  Graph& g = run.graph();
  const std::optional<Sum> sum = sum_of(g, u);
  if (!sum) return nullptr;
  for (int i = 0; i < sum->count; i++) {
    if (!is_division(sum->items[i].atom, Op::Mod)) continue;
    for (int j = 0; j < sum->count; j++) {
      if (i == j) continue;
      if (const Ref joined = join_pair(g, *sum, i, j)) return joined;
    }
  }
  return nullptr;
}

// s*b - s*m*(b // m) is s*(b % m).
Ref remainder(Run& run, Ref u) {
  Graph& g = run.graph();
  const std::optional<Sum> sum = sum_of(g, u);
  if (!sum) return nullptr;
  for (int j = 0; j < sum->count; j++) {
    const Sum::Term& q = sum->items[j];
    if (!is_division(q.atom, Op::Div) || divisor(q.atom) <= 0) continue;
    const int64_t m = divisor(q.atom);
    const std::optional<Sum> b = sum_of(g, q.atom->src[0]);
    if (q.factor % m != 0 || !b) continue;
    const Int128 s = -Int128{q.factor / m};
    Sum rest = *sum;
    bool whole = rest.add(g, q.atom, -Int128{q.factor});
    for (const Sum::Term& t : b->terms()) {
      const int before = rest.count;
      whole = whole && rest.add(g, t.atom, -(Int128{t.factor} * s)) && rest.count < before;
    }
    if (!whole || b->count == 0 || !rest.add_constant(-(Int128{b->constant} * s))) continue;
    const Ref mod = g.alu(Op::Mod, {q.atom->src[0], q.atom->src[1]});
    if (rest.add(g, mod, s)) return build(g, rest);
  }
  return nullptr;
}

}  // namespace

const RuleSet& combine_rules() {
  const Pat x = any("x");
  const Pat y = any("y");
  const Pat c = constant("c");
  const Pat d = constant("d");
  static const RuleSet rules(
      "combine",
      {
          // name, over, match, replace, when
          {"mul_constants", kInts, (x * c) * d, x * (c * d)},
          {"mul_constant_last", kInts, (x * c) * y, (x * y) * c, test(kIsNoConstant, {y})},
          by("collect", kInts, {Op::Add, Op::Mul}, collect,
             "a sum of up to 24 terms is a sum of distinct terms with constant factors, in "
             "canonical order"),
          by("recombine", kIndex, {Op::Add}, recombine,
             "(b % m)*s + (b // m)*(m*s) is b*s, and (b % m)*s + ((b // m) % e)*(m*s) is "
             "(b % (m*e))*s, for m, e > 0",
             {Op::Add, Op::Mul, Op::Mod}),
          by("remainder", kIndex, {Op::Add}, remainder,
             "b*s - (b // m)*(m*s) is (b % m)*s, for m > 0", {Op::Add, Op::Mul, Op::Div}),
      });
  return rules;
}

}  // namespace assay::uop
