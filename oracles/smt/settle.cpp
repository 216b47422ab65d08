// How a claim is settled: samples, points, solvers, in this order.
#include <fmt/format.h>

#include <algorithm>

#include "engine/check.h"
#include "engine/uop/walk.h"
#include "oracles/smt/claim.h"
#include "oracles/smt/evaluate.h"
#include "oracles/smt/linear.h"
#include "oracles/smt/products.h"

namespace assay::smt {
namespace {

using oracles::Answer;
using oracles::Strength;
using uop::Cell;
using uop::DType;
using uop::Graph;
using uop::Index;
using uop::Op;
using uop::Ref;
using uop::Value;

// What a claim's terms are made of, which says how solvers are asked.
struct Contents {
  bool has_index = false;
  bool has_fixed_ints = false;
  bool has_floats = false;
  bool has_bitwise = false;  // operations on the bits of integers
  bool may_wrap = false;
};

Contents contents_of(const Claim& claim) {
  static constexpr uop::OpSet kBitwise = {Op::And, Op::Or, Op::Xor, Op::Threefry, Op::Bitcast};
  static constexpr uop::OpSet kWraps = {Op::Neg, Op::Add, Op::Sub, Op::Mul,
                                        Op::Shl, Op::Fma, Op::Pow};
  Contents c;
  for (const Ref root : {claim.before, claim.after}) {
    for (const Ref u : uop::toposort(claim.g, root)) {
      const bool is_fixed = uop::is_fixed_int(u->dtype);
      c.has_index = c.has_index || u->dtype == Index;
      c.has_fixed_ints = c.has_fixed_ints || is_fixed;
      c.has_floats = c.has_floats || uop::is_float(u->dtype);
      c.has_bitwise = c.has_bitwise || (uop::is_int(u->dtype) && kBitwise.has(u->op));
      c.may_wrap = c.may_wrap || (is_fixed && kWraps.has(u->op));
    }
  }
  return c;
}

std::vector<View> views_of(const Claim& claim, const Contents& c) {
  if (claim.is_real) return {View::Reals};
  if (c.has_floats) return {View::AtWidth};
  if (c.has_bitwise || c.may_wrap) return {View::AtWidth, View::Integers};
  return {View::Integers, View::AtWidth};
}

// What is asked of a solver in one view: a point that refutes the claim.
class Question {
 public:
  Question(const Claim& claim, const Contents& contents, View view)
      : claim_(claim), contents_(contents), encoder_(claim.g, formula_, view) {
    for (const Claim::Leaf& leaf : claim.leaves) {
      encoder_.set_wild(leaf.u, leaf.may_be_unspecified, leaf.may_be_invalid);
    }
  }

  // Whether the claim can be said in this view.
  bool state() {
    for (const Claim::Leaf& leaf : claim_.leaves) {
      if (!encoder_.encode(leaf.u)) return false;
    }
    before_ = encoder_.encode(claim_.before);
    after_ = before_ ? encoder_.encode(claim_.after) : std::nullopt;
    if (!after_ || !require_conditions()) return false;
    if (contents_.has_index) require_64_bits();
    for (size_t i = 0; i < claim_.leaves.size(); i++) require_leaf(i);
    for (const Term fact : encoder_.facts()) formula_.require(fact);
    const Term differ = differs(formula_, *before_, *after_);
    const Term wrong = formula_.both(holds_, differ);
    formula_.require(has_to_fit() ? formula_.either(wrong, unfit()) : wrong);
    return true;
  }

  // Once a point was found that is none because an `index` leaves 64 bits: numbers of 64 bits.
  bool narrow() {
    if (!contents_.has_index || contents_.has_fixed_ints || is_narrowed_) return false;
    is_narrowed_ = true;
    formula_.require(before_->fits);
    const Term lost = formula_.no(after_->is_defined);
    formula_.require(formula_.either(after_->fits, lost));
    return true;
  }

  // A linear question that, answered by no, answers this one; nothing if this one is linear.
  std::optional<Formula> linear(Lemmas lemmas) const {
    if (encoder_.view() == View::AtWidth) return std::nullopt;
    Formula with_products = formula_;
    if (!add_products(with_products, lemmas)) return std::nullopt;
    return linearized(with_products);
  }

  const Formula& formula() const { return formula_; }
  const std::string& why() const { return encoder_.why(); }

  // The point that a model is; nothing where some number leaves its type.
  std::optional<std::vector<Cell>> point_of(std::span<const Number> model) const {
    std::vector<Cell> point;
    for (const Claim::Leaf& leaf : claim_.leaves) {
      const auto all = encoder_.leaves();
      const auto at = std::find_if(all.begin(), all.end(),
                                   [&](const Encoder::Leaf& l) { return l.u == leaf.u; });
      const auto value = [&](Term t) {
        const Formula::Node& n = formula_.node(t);
        return n.fn == Fn::Variable ? model[static_cast<size_t>(n.payload)].n : n.payload;
      };
      const DType t = leaf.u->dtype;
      if (value(at->is.is_invalid) != 0) {
        point.push_back({Cell::State::Invalid, {}});
      } else if (value(at->is_unspecified) != 0) {
        point.push_back({Cell::State::Unspecified, {}});
      } else if (uop::is_float(t)) {
        const uint64_t bits = formula_.sort(at->is.value) == kReal
                                  ? uop::of_int(t, value(at->is.value)).bits
                                  : static_cast<uint64_t>(value(at->is.value));
        point.push_back(Cell::of({t, bits}));
      } else {
        const bool is_number = formula_.sort(at->is.value) == kInt;
        if (is_number && !uop::fits(t, value(at->is.value))) return std::nullopt;
        point.push_back(Cell::of(uop::of_int(t, value(at->is.value))));
      }
    }
    return point;
  }

 private:
  // Integers of fixed width wrap, which numbers without end do not; nor do 64 bits hold every
  // `index`.
  bool has_to_fit() const { return encoder_.view() != View::AtWidth && contents_.has_fixed_ints; }

  // Where some integer wraps that is read, so that nothing is said of the point.
  Term unfit() {
    const Term is_compared = formula_.either(before_->is_defined, before_->is_invalid);
    const Term lost = formula_.both(is_compared, formula_.no(after_->fits));
    const Term sides = formula_.either(formula_.no(before_->fits), lost);
    return formula_.either(formula_.no(fit_), sides);
  }

  void require_64_bits() {
    if (encoder_.view() == View::AtWidth) formula_.require(before_->fits);
    if (encoder_.view() != View::AtWidth) return;
    const Term lost = formula_.no(after_->is_defined);
    formula_.require(formula_.either(after_->fits, lost));
  }

  bool require_conditions() {
    for (const Ref u : claim_.when) {
      const std::optional<Encoded> is = encoder_.encode(u);
      if (!is) return false;
      holds_ = formula_.both(holds_, formula_.both(is->is_defined, is->value));
      fit_ = formula_.both(fit_, is->fits);
    }
    for (const Ref u : claim_.valued) {
      const std::optional<Encoded> is = encoder_.encode(u);
      if (!is) return false;
      holds_ = formula_.both(holds_, is->is_defined);
      if (u->dtype == Index) holds_ = formula_.both(holds_, is->fits);
      if (u->dtype != Index) fit_ = formula_.both(fit_, is->fits);
    }
    if (!claim_.condition) return true;
    const std::optional<Term> holds = claim_.condition->encode(encoder_);
    if (holds) formula_.require(*holds);
    return holds.has_value();
  }

  void require_leaf(size_t i) {
    const Claim::Leaf& leaf = claim_.leaves[i];
    const Encoded is = *encoder_.encode(leaf.u);
    if (!leaf.values.empty()) {
      std::vector<Term> any;
      for (const Value v : leaf.values) {
        const Term value = encoder_.number(v);
        any.push_back(formula_.equal(is.value, value));
      }
      const Term one = formula_.make(Fn::Or, any);
      formula_.require(formula_.implies(is.is_defined, one));
    }
    const int of = leaf.least_of >= 0 ? leaf.least_of : leaf.most_of;
    if (of < 0) return;
    const Encoded x = *encoder_.encode(claim_.leaves[static_cast<size_t>(of)].u);
    const DType t = leaf.u->dtype;
    const Term beyond = leaf.least_of >= 0 ? encoder_.less(t, x.value, is.value)
                                           : encoder_.less(t, is.value, x.value);
    const Term both = formula_.both(x.is_defined, is.is_defined);
    formula_.require(formula_.no(formula_.both(both, beyond)));
  }

  const Claim& claim_;
  Contents contents_;
  Formula formula_;
  Encoder encoder_;
  std::optional<Encoded> before_, after_;
  Term holds_ = formula_.truth(true);  // the claim's conditions
  Term fit_ = formula_.truth(true);    // and that they are encoded rightly
  bool is_narrowed_ = false;
};

// A side at a point, by the engine's own evaluator: leaves without a value are terms without one.
Cell evaluated(const Claim& claim, Ref side, std::span<const Cell> point) {
  Graph& g = claim.g;
  uop::Substitution map;
  for (size_t i = 0; i < point.size(); i++) {
    const Ref u = claim.leaves[i].u;
    if (point[i].state == Cell::State::Invalid) map[u] = g.make(Op::Invalid, u->dtype, {});
    if (point[i].state != Cell::State::Unspecified) continue;
    const Ref zero = g.constant(uop::I8, 0);
    const Ref nothing = g.alu(Op::Div, {zero, zero});
    const Ref condition = g.alu(Op::Lt, {nothing, zero});
    map[u] = g.make(Op::Where, u->dtype, {condition, u, u});
  }
  uop::Evaluator evaluator(g, uop::substitute(g, side, map));
  std::vector<Value> values;
  for (const Ref u : evaluator.leaves()) {
    for (size_t i = 0; i < point.size(); i++) {
      if (claim.leaves[i].u != u) continue;
      values.push_back(point[i].defined() ? point[i].value : uop::zero_of(u->dtype));
    }
  }
  return evaluator.run(values);
}

Settled refuted(const Claim& claim, std::vector<Cell> point, std::string method) {
  Settled s;
  s.before = evaluated(claim, claim.before, point);
  s.after = evaluated(claim, claim.after, point);
  const std::string text = fmt::format("{} and not {} where {}", cell_text(s.before),
                                       cell_text(s.after), point_text(claim, point));
  s.point = std::move(point);
  s.method = std::move(method);
  if (!agrees(claim, s.before, s.after)) {
    s.verdict = {Answer::Fail, Strength::Sampled, text};
  } else {  // the evaluator of this folder and the engine's do not say the same
    s.verdict = {Answer::Unknown, Strength::Sampled, "not confirmed: " + text};
    s.method = "not confirmed";
  }
  return s;
}

Settled settled(Strength strength, std::string evidence, std::string method) {
  Settled s;
  s.verdict = {Answer::Pass, strength, std::move(evidence)};
  s.method = std::move(method);
  return s;
}

// Asks in one view; nothing where that settles nothing, and why.
std::optional<Settled> ask(const Claim& claim, const Contents& contents, View view, Prover& prover,
                           ClaimPoints& points, std::string_view kind, std::string& why) {
  Question question(claim, contents, view);
  if (!question.state()) {
    why = question.why();
    return std::nullopt;
  }
  for (const Lemmas lemmas : {Lemmas::Equations, Lemmas::Order}) {
    const auto linear = question.linear(lemmas);
    if (!linear) break;
    const Decision d = prover.decide(*linear, kind);
    if (d.answer == Satisfiable::No) return settled(Strength::Proved, "", std::string(d.method));
  }
  while (true) {
    const Decision d = prover.decide(question.formula(), kind);
    if (d.answer == Satisfiable::No) return settled(Strength::Proved, "", std::string(d.method));
    if (d.answer == Satisfiable::Unknown) {
      why = d.why;
      return std::nullopt;
    }
    const auto point = question.point_of(d.model);
    if (point && points.fails_at(*point)) return refuted(claim, *point, std::string(d.method));
    why = "not confirmed";
    if (!question.narrow()) return std::nullopt;
  }
}

// Settles a claim about two terms that are not one.
Settled settle_terms(const Claim& claim, ClaimPoints& points, Prover& prover, std::string_view kind,
                     const Effort& effort) {
  const Contents contents = contents_of(claim);
  const uint64_t first = points.is_narrow()    ? effort.table_points
                         : contents.has_floats ? effort.float_points
                                               : effort.other_points;
  const uint64_t last = points.is_narrow() ? effort.last_table_points : effort.last_points;
  const uint64_t count = points.count(std::max(first, last));
  const auto all = [&]() -> Settled {
    if (const auto found = points.search_all()) return refuted(claim, *found, "enumeration");
    return settled(Strength::Exhaustive, fmt::format("all {} points", count), "enumeration");
  };
  const size_t samples = claim.is_real ? effort.samples : std::min<size_t>(effort.samples, count);
  const auto found = points.search_samples(effort.seed, samples);
  if (found) return refuted(claim, *found, "samples");
  if (!claim.is_real && count <= first) return all();
  std::string why = "no solver asked";
  const std::vector<View> views =
      effort.asks_solvers ? views_of(claim, contents) : std::vector<View>{};
  for (const View& view : views) {
    std::string reason;
    const auto answer = ask(claim, contents, view, prover, points, kind, reason);
    if (answer) return *answer;
    if (&view == &views.front()) why = reason;
  }
  if (!claim.is_real && count <= last) return all();
  Settled s;
  s.verdict = {Answer::Unknown, Strength::Sampled,
               fmt::format("{}; {} points agree", why, points.judged())};
  s.method = why;
  return s;
}

}  // namespace

Settled settle(const Claim& claim, Prover& prover, Tables& tables, std::string_view kind,
               const Effort& effort) {
  ClaimPoints points(claim, tables);
  Settled s = claim.before == claim.after ? settled(Strength::Proved, "one term", "folding")
                                          : settle_terms(claim, points, prover, kind, effort);
  s.judged = points.sampled();
  return s;
}

}  // namespace assay::smt
