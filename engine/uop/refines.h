#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/uop/bounds.h"
#include "engine/uop/eval.h"
#include "engine/uop/sample.h"
#include "engine/uop/walk.h"

// The judge of rewrites, for tests: whether one scalar term may stand in the place of another.
namespace assay::uop {

// One line for a term of a counterexample.
inline std::string shown(Ref u, int depth = 12) {
  if (is_const(u)) return fmt::format("{}:{}", to_text(u->value()), to_text(u->dtype));
  if (u->op == Op::Variable) {
    std::string text = fmt::format("{}:{}", u->arg.name(), to_text(u->dtype));
    const auto ends = u->arg.numbers();
    if (ends.empty()) return text;
    return text + fmt::format("[{}..{}]", ends[0], ends[1]);
  }
  if (depth == 0) return "...";
  std::string text = fmt::format("({}", info(u->op).symbol);
  if (info(u->op).typing == Typing::Convert) text += fmt::format(":{}", to_text(u->dtype));
  for (const Ref s : u->src) text += " " + shown(s, depth - 1);
  return text + ")";
}

inline std::string shown(Cell c) {
  if (c.state == Cell::State::Invalid) return "invalid";
  return c.defined() ? to_text(c.value) : "unspecified";
}

// Equal as results are compared: every NaN is one value, -0.0 and 0.0 are two.
inline bool same_value(Value a, Value b) { return a == b || (is_nan(a) && is_nan(b)); }

// Values for the leaves of a term: all of them where they are few, otherwise a sample.
class Points {
 public:
  Points(std::vector<Ref> leaves, Random& random, size_t most)
      : leaves_(std::move(leaves)), random_(random), values_(leaves_.size()) {
    UInt128 count = 1;
    for (const Ref u : leaves_) {
      ends_.push_back(ends_of(u));
      const UInt128 width = static_cast<UInt128>(ends_.back().hi - ends_.back().lo) + 1;
      count = count > most ? count : count * std::min(width, UInt128{most} + 1);
    }
    exhaustive_ = count <= most;
    left_ = exhaustive_ ? static_cast<size_t>(count) : most;
  }

  bool is_exhaustive() const { return exhaustive_; }
  // The next point, or nothing.
  const std::vector<Value>* next() {
    if (left_ == 0) return nullptr;
    left_--;
    uint64_t rest = left_;
    for (size_t i = 0; i < leaves_.size(); i++) {
      values_[i] = exhaustive_ ? counted(i, rest) : sampled(i);
    }
    return &values_;
  }

 private:
  // Integers and bool by value, floats by their bits.
  static Bounds ends_of(Ref u) {
    if (is_float(u->dtype)) return {0, (Int128{1} << bits_of(u->dtype)) - 1};
    const auto ends = u->arg.numbers();
    if (ends.empty()) return {min_int(u->dtype), max_int(u->dtype)};
    return {as_int({u->dtype, static_cast<uint64_t>(ends[0])}),
            as_int({u->dtype, static_cast<uint64_t>(ends[1])})};
  }
  Value value(size_t i, Int128 x) const {
    const DType t = leaves_[i]->dtype;
    if (!is_float(t)) return of_int(t, x);
    const Value v = {t, static_cast<uint64_t>(x)};
    return is_nan(v) ? nan_of(t) : v;
  }
  Value counted(size_t i, uint64_t& rest) const {
    const auto width = static_cast<uint64_t>(ends_[i].hi - ends_[i].lo + 1);
    const Int128 x = ends_[i].lo + static_cast<Int128>(rest % width);
    rest /= width;
    return value(i, x);
  }
  Value sampled(size_t i) {
    const DType t = leaves_[i]->dtype;
    const Bounds& ends = ends_[i];
    if (is_float(t)) return any_value(random_, t);
    const Value v = any_value(random_, t);
    if (as_int(v) >= ends.lo && as_int(v) <= ends.hi) return v;
    if (random_.once_in(4)) return of_int(t, random_.once_in(2) ? ends.lo : ends.hi);
    return of_int(t, random_.between(ends.lo, ends.hi));
  }

  std::vector<Ref> leaves_;
  Random& random_;
  std::vector<Value> values_;
  std::vector<Bounds> ends_;
  bool exhaustive_ = false;
  size_t left_ = 0;
};

// What was found of a pair of terms.
struct Judged {
  size_t points = 0;   // where `before` is defined or Invalid, so that they were compared
  size_t excused = 0;  // where `after` alone leaves 64 bits on the way at type `index`
  bool exhaustive = false;
  std::optional<std::string> counterexample;
};

// Evaluates a term for values of another's leaves.
class Probe {
 public:
  Probe(Graph& g, Ref u, const std::vector<Ref>& leaves) : u_(u), evaluator_(g, u) {
    for (const Ref leaf : evaluator_.leaves()) {
      const auto at = std::find(leaves.begin(), leaves.end(), leaf);
      from_.push_back(static_cast<size_t>(at - leaves.begin()));
    }
    values_.resize(from_.size());
  }
  Ref term() const { return u_; }
  Cell run(const std::vector<Value>& values) {
    for (size_t i = 0; i < from_.size(); i++) values_[i] = values[from_[i]];
    return evaluator_.run(values_);
  }

 private:
  Ref u_;
  Evaluator evaluator_;
  std::vector<size_t> from_;
  std::vector<Value> values_;
};

// Whether u is unspecified at a point only because some `index` leaves 64 bits on the way: the
// numbers of index arithmetic have no end, those of the evaluator have.
inline bool leaves_64_bits(Graph& g, Ref u, const std::vector<Ref>& leaves,
                           const std::vector<Value>& values) {
  static constexpr OpSet kGrow = {Op::Neg, Op::Add, Op::Sub, Op::Mul, Op::Shl, Op::Fma, Op::Pow};
  const auto cell = [&](Ref v) { return Probe(g, v, leaves).run(values); };
  const auto unspecified = [&](Ref v) { return cell(v).state == Cell::State::Unspecified; };
  if (!unspecified(u)) return false;
  // Unspecified operands are why a node is; of a select only the condition, or the branch it takes.
  std::set<Ref> met;
  std::vector<Ref> left = {u};
  while (!left.empty()) {
    const Ref v = left.back();
    left.pop_back();
    if (!met.insert(v).second) continue;
    std::vector<Ref> why(v->src.begin(), v->src.end());
    if (v->op == Op::Where) {
      const Cell condition = cell(v->src[0]);
      why = {condition.defined() ? v->src[condition.value.bits != 0 ? 1 : 2] : v->src[0]};
    }
    std::erase_if(why, [&](Ref s) { return !unspecified(s); });
    left.insert(left.end(), why.begin(), why.end());
    if (!why.empty()) continue;
    const bool by_minus_one =
        (v->op == Op::Div || v->op == Op::TDiv) && as_int(cell(v->src[1]).value) != 0;
    if (v->dtype != Index || !(kGrow.has(v->op) || by_minus_one)) return false;
  }
  return true;
}

// Judges whether `after` refines `before`: where `before` has a value `after` has the same one,
// where it is Invalid so is `after`, where it is unspecified anything goes.
inline Judged judge(Graph& g, Ref before, Ref after, Random& random, size_t most_points) {
  std::vector<Ref> leaves = Evaluator(g, before).leaves();
  const Evaluator other(g, after);
  for (const Ref leaf : other.leaves()) {
    if (std::find(leaves.begin(), leaves.end(), leaf) == leaves.end()) leaves.push_back(leaf);
  }
  Judged judged;
  Probe left(g, before, leaves);
  Probe right(g, after, leaves);
  Points points(leaves, random, most_points);
  judged.exhaustive = points.is_exhaustive();
  while (const std::vector<Value>* values = points.next()) {
    const Cell a = left.run(*values);
    if (a.state == Cell::State::Unspecified) continue;
    const Cell b = right.run(*values);
    judged.points++;
    if (a.state == b.state && (!a.defined() || same_value(a.value, b.value))) continue;
    if (b.state == Cell::State::Unspecified && leaves_64_bits(g, after, leaves, *values)) {
      judged.excused++;
      continue;
    }
    std::string at;
    for (size_t i = 0; i < leaves.size(); i++) {
      at += fmt::format(" {}={}", leaves[i]->arg.name(), to_text((*values)[i]));
    }
    judged.counterexample = fmt::format("{} is {} and {} is {} at{}", shown(before), shown(a),
                                        shown(after), shown(b), at);
    return judged;
  }
  return judged;
}

}  // namespace assay::uop
