#include "props/rules/guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/check.h"
#include "engine/uop/value.h"
#include "props/rules/meaning.h"

namespace assay::props {
namespace {

using smt::Fn;
using smt::Formula;
using smt::Term;
using smt::View;
using uop::Cell;
using uop::Int128;
using uop::Op;
using uop::Pat;
using uop::Value;
using What = Pat::What;

constexpr Int128 kLeast64 = -(Int128{1} << 63);
constexpr Int128 kMost64 = (Int128{1} << 63) - 1;

Int128 floor_quotient(Int128 a, Int128 b) {
  const Int128 q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::optional<Int128> exact_of_two(Op op, Int128 a, Int128 b) {
  Int128 result = 0;
  switch (op) {
    case Op::Add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::Sub:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::Mul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::Div: return b == 0 ? std::nullopt : std::optional(floor_quotient(a, b));
    case Op::Mod: return b == 0 ? std::nullopt : std::optional(a - floor_quotient(a, b) * b);
    case Op::Min: return std::min(a, b);
    case Op::Max: return std::max(a, b);
    case Op::Lt: return a < b;
    case Op::Eq: return a == b;
    case Op::Ne: return a != b;
    default: ASSAY_CHECK(false, "a guard has no {}", uop::to_text(op));
  }
}

bool is_listed(const Meaning& meaning, Value v) {
  const std::vector<Value> all = meaning.values(v.dtype);
  return std::find(all.begin(), all.end(), v) != all.end();
}

bool is_met(const Pat& pat, const CellOf& cell_of) {
  const Meaning& meaning = *meaning_of(pat->predicate->name);
  const Cell c = cell_of(pat->args[0]->name);
  switch (meaning.says) {
    case Meaning::Says::IsOneOf: return c.defined() && is_listed(meaning, c.value);
    case Meaning::Says::NotInvalid: return c.state != Cell::State::Invalid;
    case Meaning::Says::NotUnspecified: return c.state != Cell::State::Unspecified;
    case Meaning::Says::Nothing: return true;
  }
  return false;
}

std::optional<Int128> exact_value(const Pat& pat, const CellOf& cell_of) {
  switch (pat->what) {
    case What::Literal: return pat->literal;
    case What::Hole:
    case What::Constant:
    case What::Lo:
    case What::Hi: {
      const Cell c = cell_of(leaf_name(pat));
      if (!c.defined() || uop::is_float(c.value.dtype)) return std::nullopt;
      return uop::as_int(c.value);
    }
    case What::Test: return is_met(pat, cell_of) ? 1 : 0;
    default: break;
  }
  const std::optional<Int128> a = exact_value(pat->args[0], cell_of);
  if (pat->op == Op::Not) return a ? std::optional<Int128>(*a == 0) : std::nullopt;
  const std::optional<Int128> b = exact_value(pat->args[1], cell_of);
  if (pat->op != Op::And && pat->op != Op::Or) {
    return a && b ? exact_of_two(pat->op, *a, *b) : std::nullopt;
  }
  const bool decisive = pat->op == Op::Or;
  if (a && (*a != 0) == decisive) return decisive;
  if (b && (*b != 0) == decisive) return decisive;
  return a && b ? std::optional<Int128>(!decisive) : std::nullopt;
}

}  // namespace

std::string leaf_name(const Pat& pat) {
  if (pat->what == What::Lo) return fmt::format("lo({})", pat->args[0]->name);
  if (pat->what == What::Hi) return fmt::format("hi({})", pat->args[0]->name);
  return std::string(pat->name);
}

std::vector<Pat> guard_parts(const Pat& when) {
  if (when.empty()) return {};
  if (when->what != What::Apply || when->op != Op::And) return {when};
  std::vector<Pat> all;
  for (const Pat& arg : when->args) {
    for (Pat& part : guard_parts(arg)) all.push_back(std::move(part));
  }
  return all;
}

std::optional<std::string_view> unknown_predicate(const Pat& when) {
  if (when.empty()) return std::nullopt;
  if (when->what == What::Test && meaning_of(when->predicate->name) == nullptr) {
    return when->predicate->name;
  }
  for (const Pat& arg : when->args) {
    if (const auto found = unknown_predicate(arg)) return found;
  }
  return std::nullopt;
}

Guard::Guard(Pat when, std::function<size_t(std::string_view)> place_of, std::vector<uop::Ref> refs)
    : when_(std::move(when)), place_of_(std::move(place_of)), refs_(std::move(refs)) {}

size_t Guard::place(const Pat& leaf) const { return place_of_(leaf_name(leaf)); }

bool guard_holds(const Pat& when, const CellOf& cell_of) {
  const std::optional<Int128> truth = exact_value(when, cell_of);
  return truth && *truth != 0;
}

bool Guard::holds(std::span<const Cell> point) const {
  return guard_holds(when_, [&](std::string_view name) { return point[place_of_(name)]; });
}

std::optional<Term> Guard::encode(smt::Encoder& encoder) const {
  const std::optional<Part> whole = part(when_, encoder);
  if (!whole) return std::nullopt;
  return encoder.formula().both(whole->is_known, truth_of(*whole, encoder));
}

Term Guard::truth_of(const Part& p, smt::Encoder& e) const {
  if (p.is_truth) return p.term;
  const Term zero = literal_part(0, e).term;
  return e.formula().no(e.formula().equal(p.term, zero));
}

Guard::Part Guard::literal_part(Int128 value, smt::Encoder& e) const {
  Formula& f = e.formula();
  const bool is_int = e.view() != View::AtWidth;
  const Term term = is_int ? f.integer(value) : f.number(smt::bits_sort(64), value);
  return {false, term, f.truth(true), value, value};
}

// At width a number is 64 bits with a sign, wherever those hold it for sure.
std::optional<Guard::Part> Guard::leaf_part(const Pat& pat, smt::Encoder& e) const {
  Formula& f = e.formula();
  const uop::Ref u = refs_[place(pat)];
  const std::optional<smt::Encoded> is = e.encode(u);
  if (!is) return std::nullopt;
  Part p = literal_part(0, e);
  p.is_known = is->is_defined;
  if (uop::is_float(u->dtype)) {
    p.is_known = f.truth(false);
    return p;
  }
  p.lo = u->dtype == uop::Bool ? 0 : uop::min_int(u->dtype);
  p.hi = u->dtype == uop::Bool ? 1 : uop::max_int(u->dtype);
  if (u->dtype == uop::Bool) {
    const Term one = literal_part(1, e).term;
    p.term = f.ite(is->value, one, p.term);
    return p;
  }
  if (e.view() != View::AtWidth) {
    p.term = is->value;
    return p;
  }
  if (p.hi > kMost64) return std::nullopt;
  const Fn extend = uop::is_unsigned(u->dtype) ? Fn::ZeroExtend : Fn::SignExtend;
  p.term = f.convert(extend, smt::bits_sort(64), is->value);
  return p;
}

std::optional<Guard::Part> Guard::test_part(const Pat& pat, smt::Encoder& e) const {
  Formula& f = e.formula();
  const Meaning& meaning = *meaning_of(pat->predicate->name);
  const uop::Ref u = refs_[place(pat->args[0])];
  const std::optional<smt::Encoded> is = e.encode(u);
  if (!is) return std::nullopt;
  Part p = {true, f.truth(true), f.truth(true)};
  switch (meaning.says) {
    case Meaning::Says::IsOneOf: {
      std::vector<Term> any;
      for (const Value v : meaning.values(u->dtype)) {
        const Term value = e.number(v);
        any.push_back(f.equal(is->value, value));
      }
      p.term = any.empty() ? f.truth(false) : f.make(Fn::Or, any);
      break;
    }
    case Meaning::Says::NotInvalid: p.term = f.no(is->is_invalid); break;
    case Meaning::Says::NotUnspecified: p.term = f.either(is->is_defined, is->is_invalid); break;
    case Meaning::Says::Nothing: break;
  }
  return p;
}

std::optional<Guard::Part> Guard::part(const Pat& pat, smt::Encoder& e) const {
  if (pat->what == What::Literal) return literal_part(pat->literal, e);
  if (pat->what == What::Test) return test_part(pat, e);
  if (pat->what != What::Apply) return leaf_part(pat, e);
  const std::optional<Part> a = part(pat->args[0], e);
  if (!a) return std::nullopt;
  if (pat->op == Op::Not) return Part{true, e.formula().no(truth_of(*a, e)), a->is_known};
  const std::optional<Part> b = part(pat->args[1], e);
  if (!b) return std::nullopt;
  return apply_part(pat->op, *a, *b, e);
}

std::optional<Guard::Part> Guard::apply_part(Op op, const Part& a, const Part& b,
                                             smt::Encoder& e) const {
  Formula& f = e.formula();
  const bool at_width = e.view() == View::AtWidth;
  Part p = {true, f.truth(true), f.both(a.is_known, b.is_known)};
  if (op == Op::And || op == Op::Or) {
    const Term x = truth_of(a, e);
    const Term y = truth_of(b, e);
    p.term = op == Op::And ? f.both(x, y) : f.either(x, y);
    const Term x_decides = f.both(a.is_known, op == Op::And ? f.no(x) : x);
    const Term y_decides = f.both(b.is_known, op == Op::And ? f.no(y) : y);
    const Term decided = f.either(x_decides, y_decides);
    p.is_known = f.either(decided, p.is_known);
    return p;
  }
  if (op == Op::Lt) {
    p.term = at_width ? f.make(Fn::Slt, {a.term, b.term}) : f.lt(a.term, b.term);
    return p;
  }
  if (op == Op::Eq || op == Op::Ne) {
    const bool alike = a.is_truth == b.is_truth;
    const Term x = alike ? a.term : truth_of(a, e);
    const Term y = alike ? b.term : truth_of(b, e);
    const Term equal = f.equal(x, y);
    p.term = op == Op::Eq ? equal : f.no(equal);
    return p;
  }
  if (a.is_truth || b.is_truth) return std::nullopt;
  p.is_truth = false;
  if (at_width) {
    // What 64 bits may not hold is left to the other view, and so are quotients.
    if (op != Op::Add && op != Op::Sub && op != Op::Mul) return std::nullopt;
    const Int128 ends[] = {*exact_of_two(op, a.lo, b.lo), *exact_of_two(op, a.lo, b.hi),
                           *exact_of_two(op, a.hi, b.lo), *exact_of_two(op, a.hi, b.hi)};
    p.lo = *std::min_element(ends, ends + 4);
    p.hi = *std::max_element(ends, ends + 4);
    if (p.lo < kLeast64 || p.hi > kMost64) return std::nullopt;
    p.term = f.make(op == Op::Add ? Fn::BitAdd : (op == Op::Sub ? Fn::BitSub : Fn::BitMul),
                    {a.term, b.term});
    return p;
  }
  switch (op) {
    case Op::Add: p.term = f.add(a.term, b.term); return p;
    case Op::Sub: p.term = f.sub(a.term, b.term); return p;
    case Op::Mul: p.term = f.mul(a.term, b.term); return p;
    case Op::Min: p.term = f.ite(f.lt(b.term, a.term), b.term, a.term); return p;
    case Op::Max: p.term = f.ite(f.lt(a.term, b.term), b.term, a.term); return p;
    default: break;
  }
  const Term zero = f.integer(0);
  p.is_known = f.both(p.is_known, f.no(f.equal(b.term, zero)));
  p.term = f.make(op == Op::Div ? Fn::Div : Fn::Mod, {a.term, b.term});
  return p;
}

}  // namespace assay::props
