#pragma once

#include <initializer_list>
#include <span>

#include "engine/uop/uop.h"

namespace assay::codegen {

// A node that more terms are made from. Each operator makes one node of its name at the type of its
// operands; a plain number is a constant of that type. Where both operands of an operator would
// make nodes, one of them is named first, so that every compiler makes nodes in one order.
struct Term {
  uop::Graph* g;
  uop::Ref u;

  uop::DType type() const { return u->dtype; }
  Term integer(int64_t n) const { return integer(u->dtype, n); }
  Term integer(uop::DType t, int64_t n) const { return {g, g->constant(t, n)}; }
  Term number(double x) const { return {g, g->constant(uop::of_double(u->dtype, x))}; }
  Term make(uop::Op op, std::initializer_list<Term> more = {}) const;
};

inline Term Term::make(uop::Op op, std::initializer_list<Term> more) const {
  uop::Ref src[3] = {u};
  size_t n = 1;
  for (const Term t : more) src[n++] = t.u;
  const bool compares = uop::info(op).typing == uop::Typing::Compare;
  return {g, g->make(op, compares ? uop::Bool : src[n - 1]->dtype, std::span(src, n))};
}

// A number beside a term is an integer or a float by the term's type.
inline Term operand(Term beside, double x) {
  return uop::is_float(beside.type()) ? beside.number(x) : beside.integer(static_cast<int64_t>(x));
}

#define ASSAY_TERM_OPERATOR(symbol, op)                                            \
  inline Term operator symbol(Term a, Term b) { return a.make(uop::Op::op, {b}); } \
  inline Term operator symbol(Term a, double b) { return a symbol operand(a, b); }
ASSAY_TERM_OPERATOR(+, Add)
ASSAY_TERM_OPERATOR(-, Sub)
ASSAY_TERM_OPERATOR(*, Mul)
ASSAY_TERM_OPERATOR(/, FDiv)
ASSAY_TERM_OPERATOR(&, And)
ASSAY_TERM_OPERATOR(|, Or)
ASSAY_TERM_OPERATOR(^, Xor)
ASSAY_TERM_OPERATOR(<<, Shl)
ASSAY_TERM_OPERATOR(>>, Shr)
ASSAY_TERM_OPERATOR(<, Lt)
ASSAY_TERM_OPERATOR(==, Eq)
ASSAY_TERM_OPERATOR(!=, Ne)
#undef ASSAY_TERM_OPERATOR

// b < a.
inline Term operator>(Term a, Term b) { return b < a; }
inline Term operator>(Term a, double b) { return operand(a, b) < a; }
inline Term operator-(double a, Term b) { return operand(b, a) - b; }
inline Term operator-(Term a) { return a.make(uop::Op::Neg); }
inline Term operator!(Term a) { return a.make(uop::Op::Not); }

inline Term where(Term c, Term a, Term b) { return c.make(uop::Op::Where, {a, b}); }
inline Term where(Term c, Term a, double b) { return where(c, a, operand(a, b)); }
inline Term where(Term c, double a, Term b) { return where(c, operand(b, a), b); }
// a * b + c, rounded once.
inline Term fma(Term a, Term b, Term c) { return a.make(uop::Op::Fma, {b, c}); }
inline Term fma(Term a, double b, Term c) { return fma(a, a.number(b), c); }
inline Term fma(Term a, Term b, double c) { return fma(a, b, a.number(c)); }

inline Term cast(Term a, uop::DType t) {
  return a.type() == t ? a : Term{a.g, a.g->make(uop::Op::Cast, t, {a.u})};
}
inline Term bits_as(Term a, uop::DType t) {
  return a.type() == t ? a : Term{a.g, a.g->make(uop::Op::Bitcast, t, {a.u})};
}

// c[0] + c[1] x + … of the given powers, by Horner's rule.
inline Term polynomial(Term x, std::span<const double> c) {
  Term p = x.number(c[c.size() - 1]);
  for (size_t i = c.size() - 1; i-- > 0;) p = fma(p, x, c[i]);
  return p;
}

}  // namespace assay::codegen
