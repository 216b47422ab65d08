// Integers at their width.
#include "oracles/smt/encode.h"

namespace assay::smt {
namespace {

using uop::DType;
using uop::Index;
using uop::Op;
using uop::Ref;

bool is_signed_here(DType t) { return uop::kind_of(t) == uop::Kind::Signed || t == Index; }

Term one_of_two(Formula& f, Fn fn, Term a, Term b) { return f.make(fn, {a, b}); }

}  // namespace

// Whether a sum, difference or quotient of 64 bits is exact: it is if its sign is what the signs
// of the operands say.
void Encoder::bits_fit(Ref u, Term a, Term b, Encoded& out) {
  if (u->dtype != Index) return;
  const Term zero = f_.number(bits_sort(64), 0);
  const Term least = f_.number(bits_sort(64), uop::min_int(Index));
  const auto is_negative = [&](Term x) { return f_.make(Fn::Slt, {x, zero}); };
  const Term a_sign = is_negative(a);
  const Term b_sign = is_negative(b);
  const Term sign = is_negative(out.value);
  Term leaves = f_.truth(false);
  if (u->op == Op::Neg) leaves = f_.equal(a, least);
  if (u->op == Op::Add || u->op == Op::Sub) {
    const Term alike = f_.equal(a_sign, b_sign);
    const Term turned = f_.no(f_.equal(a_sign, sign));
    leaves = f_.both(u->op == Op::Add ? alike : f_.no(alike), turned);
  }
  if (u->op == Op::Div || u->op == Op::TDiv) {
    const Term minus_one = f_.number(bits_sort(64), -1);
    const Term is_least = f_.equal(a, least);
    const Term by_minus_one = f_.equal(b, minus_one);
    leaves = f_.both(is_least, by_minus_one);
  }
  narrow_fits(out, f_.no(leaves));
}

bool Encoder::of_bits_division(Ref u, Term a, Term b, Encoded& out) {
  const Sort sort = f_.sort(a);
  const Term zero = f_.number(sort, 0);
  const bool is_signed = is_signed_here(u->dtype);
  const bool wants_quotient = u->op == Op::Div || u->op == Op::TDiv;
  out.is_defined = f_.both(out.is_defined, f_.no(f_.equal(b, zero)));
  if (!is_signed || u->op == Op::TDiv || u->op == Op::TMod) {
    const Fn cut =
        is_signed ? (wants_quotient ? Fn::Sdiv : Fn::Srem) : (wants_quotient ? Fn::Udiv : Fn::Urem);
    out.value = one_of_two(f_, cut, a, b);
    return true;
  }
  // Where the remainder that truncation leaves is not of the divisor's sign, the quotient is one
  // less.
  const Term rest = one_of_two(f_, Fn::Srem, a, b);
  const Term rest_sign = one_of_two(f_, Fn::Slt, rest, zero);
  const Term divisor_sign = one_of_two(f_, Fn::Slt, b, zero);
  const Term is_exact = f_.equal(rest, zero);
  const Term agree = f_.equal(rest_sign, divisor_sign);
  const Term is_off = f_.both(f_.no(is_exact), f_.no(agree));
  if (u->op == Op::Mod) {
    const Term moved = one_of_two(f_, Fn::BitAdd, rest, b);
    out.value = f_.ite(is_off, moved, rest);
    return true;
  }
  const Term quotient = one_of_two(f_, Fn::Sdiv, a, b);
  const Term one = f_.number(sort, 1);
  const Term less_one = one_of_two(f_, Fn::BitSub, quotient, one);
  out.value = f_.ite(is_off, less_one, quotient);
  return true;
}

bool Encoder::of_bits(Ref u, Operands x, Encoded& out) {
  const DType t = u->dtype;
  const Term a = x[0].value;
  const Term b = x.size() > 1 ? x[1].value : a;
  const auto two = [&](Fn fn) {
    out.value = one_of_two(f_, fn, a, b);
    bits_fit(u, a, b, out);
    return true;
  };
  switch (u->op) {
    case Op::Neg:
      out.value = f_.make(Fn::BitNeg, {a});
      bits_fit(u, a, a, out);
      return true;
    case Op::Not: out.value = f_.make(Fn::BitNot, {a}); return true;
    case Op::Add: return two(Fn::BitAdd);
    case Op::Sub: return two(Fn::BitSub);
    case Op::Mul: return t != Index && two(Fn::BitMul);
    case Op::And: return two(Fn::BitAnd);
    case Op::Or: return two(Fn::BitOr);
    case Op::Xor: return two(Fn::BitXor);
    case Op::Max: out.value = f_.ite(less(t, a, b), b, a); return true;
    case Op::Min: out.value = f_.ite(less(t, b, a), b, a); return true;
    case Op::Div:
    case Op::Mod:
    case Op::TDiv:
    case Op::TMod:
      of_bits_division(u, a, b, out);
      bits_fit(u, a, b, out);
      return true;
    case Op::Shl:
    case Op::Shr: {
      if (t == Index && u->op == Op::Shl) return false;
      const Term width = f_.number(f_.sort(a), uop::bits_of(t));
      out.is_defined = f_.both(out.is_defined, f_.make(Fn::Ult, {b, width}));
      if (u->op == Op::Shl) return two(Fn::Shl);
      return two(is_signed_here(t) ? Fn::Ashr : Fn::Lshr);
    }
    case Op::Fma: {
      if (t == Index) return false;
      const Term product = f_.make(Fn::BitMul, {a, b});
      out.value = f_.make(Fn::BitAdd, {product, x[2].value});
      return true;
    }
    case Op::Pow: return of_power(u, a, b, out);
    case Op::Threefry: {
      const Term operands[] = {a, b};
      out.value = f_.opaque("threefry", f_.sort(a), operands);
      return true;
    }
    default: return false;
  }
}

}  // namespace assay::smt
