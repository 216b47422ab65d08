#include "props/firings/term.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/check.h"

namespace assay::props {

using uop::DType;
using uop::Op;
using uop::Ref;
using uop::Typing;
using uop::Value;

namespace {

constexpr uop::TypeSet kLaidOut = uop::kFixedInts | uop::kFloats;

std::vector<DType> types_in(uop::TypeSet types) {
  std::vector<DType> all;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    if (types.has(DType(i))) all.push_back(DType(i));
  }
  return all;
}

// Types that a bitcast between them and t is specified for.
std::vector<DType> as_wide_as(DType t) {
  std::vector<DType> all = {t};
  for (const DType o : types_in(kLaidOut)) {
    if (o != t && kLaidOut.has(t) && uop::bits_of(o) == uop::bits_of(t)) all.push_back(o);
  }
  return all;
}

}  // namespace

DType TermMaker::any_type() {
  static const std::vector<DType> all = types_in(uop::kScalars);
  return c_.pick(std::span<const DType>(all));
}

// An operation whose result may have type t.
Op TermMaker::any_op(DType t) {
  std::vector<Op> ops;
  for (int i = 0; i < uop::kOpCount; i++) {
    const Op op = static_cast<Op>(i);
    if (!uop::is_scalar(op)) continue;
    const bool compares = info(op).typing == Typing::Compare;
    if (compares ? t == DType::Bool : info(op).over.has(t)) ops.push_back(op);
  }
  return c_.pick(std::span<const Op>(ops));
}

Ref TermMaker::small_constant(DType t) {
  if (t == DType::Bool || uop::is_float(t) || c_.chance(1, 12)) return g_.constant(c_.value(t));
  static constexpr int64_t kOften[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 5, 7, -1, -2, -3, -4, 0};
  return constant(t, c_.pick(std::span<const int64_t>(kOften)));
}

Ref TermMaker::variable(DType t) {
  const std::string name = fmt::format("{}{}", to_text(t), c_.below(3));
  Ref& known = variables_[name];
  if (known != nullptr) return known;
  const bool bounded = t == DType::Index ? c_.chance(15, 16) : uop::is_int(t) && c_.chance(1, 2);
  if (!bounded) return known = g_.variable(name, t);
  Value lo =
      t == DType::Index ? uop::of_int(t, c_.chance(2, 3) ? 0 : c_.between(-12, 12)) : c_.value(t);
  Value hi = uop::of_int(t, std::min(as_int(lo) + c_.between(0, 20), uop::max_int(t)));
  if (c_.chance(1, 12)) hi = c_.value(t);
  if (as_int(hi) < as_int(lo)) std::swap(lo, hi);
  return known = g_.variable(name, lo, hi);
}

Ref TermMaker::leaf(DType t) {
  if (c_.chance(1, 60)) return g_.make(Op::Invalid, t, {});
  return c_.chance(1, 4) ? small_constant(t) : variable(t);
}

// Divisors, shifts and exponents are mostly constants that have a meaning.
Ref TermMaker::second_operand(Op op, DType t, int size) {
  switch (op) {
    case Op::Div:
    case Op::Mod:
    case Op::TDiv:
    case Op::TMod: return c_.chance(1, 12) ? term(t, size) : small_constant(t);
    case Op::Shl:
    case Op::Shr:
      return c_.chance(1, 8) ? term(t, size) : constant(t, c_.between(0, uop::bits_of(t)));
    case Op::Pow:
      return c_.chance(1, 8) ? term(t, size) : g_.constant(uop::of_int(t, c_.between(-1, 4)));
    case Op::Mul: return c_.chance(1, 2) ? small_constant(t) : term(t, size);
    default: return term(t, size);
  }
}

// NaN has many bit patterns, and which one comes of arithmetic is not specified: only its class is
// looked at, so no NaN that was computed is read as an integer.
Ref TermMaker::convert(Op op, DType from, DType to, int size) {
  Ref s = term(from, size);
  if (op == Op::Bitcast && uop::is_float(from) && s->op != Op::Variable && s->op != Op::Bitcast) {
    const Ref is_number = g_.alu(Op::Eq, {s, s});
    s = g_.alu(Op::Where, {is_number, s, g_.constant(zero_of(from))});
  }
  return g_.make(op, to, {s});
}

Ref TermMaker::compare(Op op, DType t, int size) {
  Ref a = term(t, size);
  Ref b = c_.chance(1, 2) ? small_constant(t) : term(t, size);
  if (c_.chance(1, 4)) std::swap(a, b);
  if (uop::is_int(t) && c_.chance(1, 3)) {  // casts of one type, or a cast and a constant
    const DType from = c_.chance(1, 3) ? t : any_type();
    a = g_.make(Op::Cast, t, {term(from, size / 2)});
    if (c_.chance(1, 2)) b = g_.make(Op::Cast, t, {term(from, size / 2)});
    if (c_.chance(1, 2)) std::swap(a, b);
  }
  return g_.alu(op, {a, b});
}

Ref TermMaker::condition(int size) {
  Ref all = nullptr;
  for (uint64_t i = 0, n = 1 + c_.below(3); i < n; i++) {
    const DType t = c_.chance(3, 4) ? DType::Index : any_type();
    const Ref x = c_.chance(1, 2) ? variable(t) : term(t, size / 3);
    const Ref limit = small_constant(t);
    const Ref one = c_.chance(1, 2) ? g_.alu(Op::Lt, {x, limit}) : g_.alu(Op::Lt, {limit, x});
    all = all == nullptr ? one : g_.alu(Op::And, {all, one});
  }
  return all;
}

Ref TermMaker::gated(DType t, int size) {
  const Ref c = condition(size / 2);
  return g_.alu(Op::Where, {c, term(t, size / 2), g_.make(Op::Invalid, t, {})});
}

// Terms with constant factors, some of them equal.
Ref TermMaker::sum(DType t, int size) {
  const Ref factor = small_constant(t);
  Ref total = nullptr;
  for (uint64_t i = 0, n = 2 + c_.below(3); i < n; i++) {
    Ref u = c_.chance(2, 3) ? variable(t) : term(t, size / 3);
    if (c_.chance(2, 3)) u = g_.alu(Op::Mul, {u, c_.chance(1, 2) ? factor : small_constant(t)});
    total = total == nullptr ? u : g_.alu(Op::Add, {total, u});
  }
  return c_.chance(1, 2) ? total : g_.alu(Op::Add, {total, small_constant(t)});
}

Ref TermMaker::division(DType t, int size) {
  Ref x = sum(t, size / 2);
  if (c_.chance(1, 3)) x = g_.alu(Op::Add, {division(t, size / 3), x});
  const Op op = c_.pick({Op::Div, Op::Mod});
  return g_.alu(op, {x, small_constant(t)});
}

// What a quotient and a remainder of one dividend make together.
Ref TermMaker::recombined(DType t, int size) {
  const Ref b = c_.chance(1, 2) ? variable(t) : sum(t, size / 2);
  const int64_t m = c_.between(1, 8);
  const int64_t s = c_.pick({1, 1, 2, 3, -1});
  const Ref divisor = constant(t, m);
  Ref quotient = g_.alu(Op::Div, {b, divisor});
  if (c_.chance(1, 3)) {  // b - (b // m)*m
    return g_.alu(Op::Add, {g_.alu(Op::Mul, {b, constant(t, s)}),
                            g_.alu(Op::Mul, {quotient, constant(t, -s * m)})});
  }
  if (c_.chance(1, 3)) quotient = g_.alu(Op::Mod, {quotient, constant(t, c_.between(1, 6))});
  const Ref shifted = g_.alu(Op::Add, {b, constant(t, m * c_.between(-1, 1))});
  const Ref remainder = g_.alu(Op::Mod, {shifted, divisor});
  return g_.alu(Op::Add, {g_.alu(Op::Mul, {remainder, constant(t, s)}),
                          g_.alu(Op::Mul, {quotient, constant(t, s * m)})});
}

// One operation on terms that share a part, which is what most rules look for.
Ref TermMaker::repeated(DType t, int size) {
  const Ref x = term(t, size / 3);
  const Op op = any_op(t);
  const Typing typing = info(op).typing;
  if (info(op).min_sources != 2 || typing == Typing::Compare) return generic(op, t, size);
  const Ref other = c_.chance(1, 2) ? g_.alu(op, {x, second_operand(op, t, size / 3)}) : x;
  return c_.chance(1, 2) ? g_.alu(op, {x, other}) : g_.alu(op, {other, x});
}

Ref TermMaker::generic(Op op, DType t, int size) {
  switch (info(op).typing) {
    case Typing::Compare: return compare(op, any_type(), size / 2);
    case Typing::Convert: {
      const std::vector<DType> wide = as_wide_as(t);
      return convert(op, op == Op::Bitcast ? c_.pick(std::span<const DType>(wide)) : any_type(), t,
                     size - 1);
    }
    case Typing::Select: {
      const Ref p = c_.chance(1, 2) ? condition(size / 3) : term(DType::Bool, size / 3);
      return g_.alu(op, {p, term(t, size / 3), term(t, size / 3)});
    }
    default: break;
  }
  const int sources = info(op).min_sources;
  std::vector<Ref> src = {term(t, (size - 1) / sources)};
  if (sources > 1) src.push_back(second_operand(op, t, (size - 1) / sources));
  if (sources > 2) src.push_back(term(t, (size - 1) / sources));
  return g_.make(op, t, src);
}

Ref TermMaker::term(DType t, int size) {
  if (size <= 0) return leaf(t);
  if (c_.chance(1, 12)) return gated(t, size);
  if (t == DType::Bool && c_.chance(1, 3)) return condition(size);
  if (c_.chance(1, 8)) return repeated(t, size);
  const bool index = t == DType::Index;
  if (uop::is_int(t) && c_.chance(index ? 3 : 1, 4)) {
    const uint64_t way = c_.below(4);
    if (way == 0) return recombined(t, size);
    return way == 1 ? sum(t, size) : division(t, size);
  }
  return generic(any_op(t), t, size);
}

Ref TermMaker::rooted(Op op, DType t, int size) {
  if (op == Op::Variable) return variable(t);
  switch (info(op).typing) {
    case Typing::Compare: return compare(op, t, size);
    case Typing::Convert: {
      const std::vector<DType> wide = as_wide_as(t);
      const DType to = op == Op::Bitcast ? c_.pick(std::span<const DType>(wide)) : any_type();
      if (c_.chance(1, 2)) return convert(op, t, to, size);
      // A conversion of a conversion.
      const DType from = op == Op::Bitcast ? c_.pick(std::span<const DType>(wide)) : any_type();
      return g_.make(op, to, {convert(op, from, t, size - 1)});
    }
    default: break;
  }
  const bool sums = uop::is_int(t) && c_.chance(1, 2);
  if (sums && op == Op::Add) return c_.chance(1, 2) ? recombined(t, size) : sum(t, size);
  if (sums && (op == Op::Div || op == Op::Mod)) {
    const Ref x = division(t, size);
    return x->op == op ? x : g_.alu(op, {x, small_constant(t)});
  }
  if (op == Op::Where && c_.chance(1, 2)) return gated(t, size);
  if (op == Op::And && t == DType::Bool && c_.chance(1, 2)) {
    return g_.alu(op, {condition(size / 2), condition(size / 2)});
  }
  return generic(op, t, size);
}

}  // namespace assay::props
