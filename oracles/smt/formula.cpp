#include "oracles/smt/formula.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/uop/value.h"
#include "oracles/smt/evaluate.h"
#include "oracles/smt/mixed.h"

namespace assay::smt {
namespace {

uint64_t hash_of(const Formula::Node& node, std::span<const Term> operands) {
  uint64_t h = mixed(static_cast<uint64_t>(node.fn), static_cast<uint64_t>(node.sort.kind));
  h = mixed(h, node.sort.bits);
  h = mixed(h, static_cast<uint64_t>(node.sort.type));
  h = mixed(h, static_cast<uint64_t>(node.payload));
  h = mixed(h, static_cast<uint64_t>(node.payload >> 64));
  for (const Term t : operands) h = mixed(h, t.id);
  return h;
}

bool gives_truth(Fn fn) {
  switch (fn) {
    case Fn::Not:
    case Fn::And:
    case Fn::Or:
    case Fn::Xor:
    case Fn::Equal:
    case Fn::Lt:
    case Fn::Le:
    case Fn::Ult:
    case Fn::Slt:
    case Fn::FloatLt:
    case Fn::FloatLe:
    case Fn::FloatEq:
    case Fn::IsNan:
    case Fn::IsInf:
    case Fn::IsZero:
    case Fn::IsNegative: return true;
    default: return false;
  }
}

}  // namespace

Sort bits_sort(int bits) {
  ASSAY_CHECK(bits > 0 && bits <= 64, "no solver's bits are {} wide here", bits);
  return {Sort::Kind::Bits, static_cast<uint8_t>(bits)};
}

Sort float_sort(uop::DType type) {
  ASSAY_CHECK(uop::is_float(type) && type != uop::DType::E4M3, "{} is no sort of floats",
              to_text(type));
  return {Sort::Kind::Float, static_cast<uint8_t>(uop::bits_of(type)), type};
}

std::span<const Term> Formula::operands(Term t) const {
  const Node& n = nodes_[t.id];
  return std::span(operands_).subspan(n.first, n.count);
}

Term Formula::intern(Node node, std::span<const Term> operands) {
  const uint64_t hash = hash_of(node, operands);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const Node& other = nodes_[at->second];
    const auto theirs = this->operands(Term{at->second});
    if (other.fn == node.fn && other.sort == node.sort && other.payload == node.payload &&
        std::equal(theirs.begin(), theirs.end(), operands.begin(), operands.end())) {
      return {at->second};
    }
  }
  node.first = static_cast<uint32_t>(operands_.size());
  node.count = static_cast<uint32_t>(operands.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  const auto id = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(node);
  known_.emplace(hash, id);
  return {id};
}

Term Formula::variable(std::string_view name, Sort sort) {
  for (const Variable& v : variables_) {
    if (v.name != name) continue;
    ASSAY_CHECK(v.sort == sort, "variable {} has two sorts", name);
    return v.term;
  }
  const Term term = intern({Fn::Variable, sort, 0, 0, static_cast<Int128>(variables_.size())}, {});
  variables_.push_back({std::string(name), term, sort});
  return term;
}

Term Formula::bounded(std::string_view name, Int128 lo, Int128 hi) {
  const size_t before = variables_.size();
  const Term term = variable(name, kInt);
  Variable& v = variables_[static_cast<size_t>(node(term).payload)];
  ASSAY_CHECK(variables_.size() > before || (v.is_bounded && v.lo == lo && v.hi == hi),
              "variable {} has two ranges", name);
  v.is_bounded = true;
  v.lo = lo;
  v.hi = hi;
  return term;
}

Term Formula::number(Sort sort, Int128 value) {
  if (sort.kind == Sort::Kind::Bits && sort.bits < 64) value &= (Int128{1} << sort.bits) - 1;
  if (sort.kind == Sort::Kind::Bits && sort.bits == 64) value = static_cast<uint64_t>(value);
  if (sort.kind == Sort::Kind::Float) {
    const uop::Value v = {sort.type, static_cast<uint64_t>(value)};
    value = uop::is_nan(v) ? uop::nan_of(sort.type).bits : v.bits;
  }
  return intern({Fn::Number, sort, 0, 0, value}, {});
}

Term Formula::opaque(std::string_view name, Sort sort, std::span<const Term> operands) {
  size_t number = 0;
  while (number < opaques_.size() && opaques_[number] != name) number++;
  if (number == opaques_.size()) opaques_.emplace_back(name);
  return intern({Fn::Opaque, sort, 0, 0, static_cast<Int128>(number)}, operands);
}

Term Formula::folded(Fn fn, Sort sort, std::span<const Term> operands) {
  std::vector<Sort> sorts;
  std::vector<Number> numbers;
  bool all_known = !operands.empty();
  for (const Term t : operands) {
    sorts.push_back(this->sort(t));
    numbers.push_back({nodes_[t.id].payload});
    all_known = all_known && is_number(t);
  }
  if (all_known) {
    const std::optional<Number> value = apply(fn, sort, sorts, numbers);
    if (value && value->d == 1) return number(sort, value->n);
  }
  return intern({fn, sort}, operands);
}

// Of `and`, where `decisive` is false, and `or`, where it is true.
Term Formula::junction(Fn fn, bool decisive, std::span<const Term> operands) {
  std::vector<Term> kept;
  for (const Term t : operands) {
    if (decisive ? is_true(t) : is_false(t)) return truth(decisive);
    const bool is_neutral = decisive ? is_false(t) : is_true(t);
    const bool is_known = std::find(kept.begin(), kept.end(), t) != kept.end();
    if (!is_neutral && !is_known) kept.push_back(t);
  }
  if (kept.empty()) return truth(!decisive);
  return kept.size() == 1 ? kept[0] : intern({fn, kBool}, kept);
}

// What a function of these operands is, where that can be said though not all of them are numbers.
std::optional<Term> Formula::simplified(Fn fn, std::span<const Term> x) {
  const auto is = [&](Term t, int value) { return is_number(t) && nodes_[t.id].payload == value; };
  switch (fn) {
    case Fn::Not:
      if (nodes_[x[0].id].fn == Fn::Not) return operands(x[0])[0];
      return std::nullopt;
    case Fn::Equal:
      if (x[0] == x[1]) return truth(true);
      return std::nullopt;
    case Fn::Ite:
      if (is_number(x[0])) return is_true(x[0]) ? x[1] : x[2];
      if (x[1] == x[2]) return x[1];
      return std::nullopt;
    case Fn::Lt:
      if (x[0] == x[1]) return truth(false);
      return std::nullopt;
    case Fn::Le:
      if (x[0] == x[1]) return truth(true);
      return std::nullopt;
    case Fn::Add:
      if (x.size() == 2 && is(x[0], 0)) return x[1];
      if (x.size() == 2 && is(x[1], 0)) return x[0];
      return std::nullopt;
    case Fn::Sub: return is(x[1], 0) ? std::optional(x[0]) : std::nullopt;
    case Fn::Mul:
      if (is(x[0], 0) || is(x[1], 0)) return number(sort(x[0]), 0);
      if (is(x[0], 1)) return x[1];
      if (is(x[1], 1)) return x[0];
      return std::nullopt;
    default: return std::nullopt;
  }
}

Term Formula::make(Fn fn, std::span<const Term> operands) {
  ASSAY_CHECK(!operands.empty(), "a function of nothing");
  if (fn == Fn::And) return junction(fn, false, operands);
  if (fn == Fn::Or) return junction(fn, true, operands);
  if (const std::optional<Term> known = simplified(fn, operands)) return *known;
  if (gives_truth(fn)) return folded(fn, kBool, operands);
  return folded(fn, sort(operands[fn == Fn::Ite ? 1 : 0]), operands);
}

Term Formula::convert(Fn fn, Sort to, Term x) {
  const bool is_same =
      fn == Fn::Extract || fn == Fn::ZeroExtend || fn == Fn::SignExtend || fn == Fn::FloatOfFloat;
  if (is_same && sort(x) == to) return x;
  return folded(fn, to, std::span(&x, 1));
}

Term Formula::within(Term x, Int128 lo, Int128 hi) {
  const Term least = integer(lo);
  const Term most = integer(hi);
  const Term above = le(least, x);
  const Term below = le(x, most);
  return both(above, below);
}

}  // namespace assay::smt
