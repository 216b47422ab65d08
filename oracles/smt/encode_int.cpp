// Integers as numbers without end, and powers.
#include <fmt/format.h>

#include "oracles/smt/encode.h"

namespace assay::smt {
namespace {

using uop::DType;
using uop::Index;
using uop::Op;
using uop::Ref;

// n where x is 2^n - 1, n > 0; otherwise 0.
int ones_in(Int128 x) {
  for (int n = 1; n < 64; n++) {
    if (x == (Int128{1} << n) - 1) return n;
  }
  return 0;
}

}  // namespace

// One of few numbers: exact, and the same term wherever the exponent is.
Term Encoder::power_of_two(DType t, Term n) {
  const int last = uop::bits_of(t) - 1;
  if (f_.is_number(n)) {
    const Int128 exponent = f_.node(n).payload;
    return f_.integer(exponent >= 0 && exponent <= last ? Int128{1} << int(exponent) : 1);
  }
  Term power = f_.integer(Int128{1} << last);
  for (int i = last - 1; i >= 0; i--) {
    const Term exponent = f_.integer(i);
    const Term value = f_.integer(Int128{1} << i);
    power = f_.ite(f_.equal(n, exponent), value, power);
  }
  return power;
}

bool Encoder::of_int_division(Ref u, Term a, Term b, Encoded& out) {
  const Term zero = f_.integer(0);
  out.is_defined = f_.both(out.is_defined, f_.no(f_.equal(b, zero)));
  if (u->op == Op::Div || u->op == Op::Mod) {
    out.value = f_.make(u->op == Op::Div ? Fn::Div : Fn::Mod, {a, b});
    return true;
  }
  // What truncation leaves has the sign of the dividend, and the magnitudes divide as usual.
  const Term is_negative = f_.lt(a, zero);
  const Term turned = f_.make(Fn::Neg, {a});
  const Term size = f_.ite(is_negative, turned, a);
  const Term by_is_negative = f_.lt(b, zero);
  const Term by_turned = f_.make(Fn::Neg, {b});
  const Term by = f_.ite(by_is_negative, by_turned, b);
  if (u->op == Op::TMod) {
    const Term rest = f_.make(Fn::Mod, {size, by});
    const Term negative = f_.make(Fn::Neg, {rest});
    out.value = f_.ite(is_negative, negative, rest);
    return true;
  }
  const Term quotient = f_.make(Fn::Div, {size, by});
  const Term negative = f_.make(Fn::Neg, {quotient});
  const Term alike = f_.equal(is_negative, by_is_negative);
  out.value = f_.ite(alike, quotient, negative);
  return true;
}

bool Encoder::of_int(Ref u, Operands x, Encoded& out) {
  const DType t = u->dtype;
  const Term a = x[0].value;
  const Term b = x.size() > 1 ? x[1].value : a;
  // A result that may leave the type.
  const auto exact = [&](Term value) {
    out.value = value;
    narrow_fits(out, f_.within(value, uop::min_int(t), uop::max_int(t)));
    return true;
  };
  switch (u->op) {
    case Op::Neg: return exact(f_.make(Fn::Neg, {a}));
    case Op::Not: {
      const Term last = f_.integer(uop::is_unsigned(t) ? uop::max_int(t) : -1);
      out.value = f_.sub(last, a);
      return true;
    }
    case Op::Add: return exact(f_.add(a, b));
    case Op::Sub: return exact(f_.sub(a, b));
    case Op::Mul: return exact(f_.mul(a, b));
    case Op::Fma: return exact(f_.add(f_.mul(a, b), x[2].value));
    case Op::Max: out.value = f_.ite(f_.lt(a, b), b, a); return true;
    case Op::Min: out.value = f_.ite(f_.lt(b, a), b, a); return true;
    case Op::Div:
    case Op::TDiv: of_int_division(u, a, b, out); return uop::is_unsigned(t) || exact(out.value);
    case Op::Mod:
    case Op::TMod: return of_int_division(u, a, b, out);
    case Op::And: {  // of a mask of ones
      const bool is_left = f_.is_number(a);
      const Term mask = is_left ? a : b;
      const int ones = f_.is_number(mask) ? ones_in(f_.node(mask).payload) : 0;
      if (ones == 0) return false;
      const Term modulus = f_.integer(Int128{1} << ones);
      out.value = f_.make(Fn::Mod, {is_left ? b : a, modulus});
      return true;
    }
    case Op::Shl:
    case Op::Shr: {
      const Term power = power_of_two(t, b);
      out.is_defined = f_.both(out.is_defined, f_.within(b, 0, uop::bits_of(t) - 1));
      if (u->op == Op::Shl) return exact(f_.mul(a, power));
      out.value = f_.make(Fn::Div, {a, power});
      return true;
    }
    case Op::Pow: return of_power(u, a, b, out);
    default: return false;
  }
}

// x^0 is 1 and 1^y is 1, of NaN too; x^1 is x, and x^2 is x*x rounded once. Of more nothing is
// known but that zero has no inverse.
bool Encoder::of_power(Ref u, Term a, Term b, Encoded& out) {
  const DType t = u->dtype;
  const Term zero = number(uop::zero_of(t));
  const Term one = number(uop::one_of(t));
  const Term two = number(uop::of_int(t, 2));
  const bool is_bits = f_.sort(a).kind == Sort::Kind::Bits;
  const bool is_ieee = f_.sort(a).kind == Sort::Kind::Float;
  const Fn times = is_bits ? Fn::BitMul : (is_ieee ? Fn::FloatMul : Fn::Mul);
  const auto equal = [&](Term x, Term y) {
    return is_ieee ? f_.make(Fn::FloatEq, {x, y}) : f_.equal(x, y);
  };
  const Term operands[] = {a, b};
  const Term any = f_.opaque(fmt::format("pow {}", uop::to_text(t)), f_.sort(a), operands);
  const Term square = f_.make(times, {a, a});
  Term value = f_.ite(equal(b, two), square, any);
  // A NaN to the power of 1 is the default NaN, and all NaNs are one.
  value = f_.ite(equal(b, one), a, value);
  value = f_.ite(equal(a, one), one, value);
  value = f_.ite(equal(b, zero), one, value);
  out.value = value;
  if (!uop::is_int(t)) return true;
  const Term by_negative = less(t, b, zero);
  out.is_defined = f_.both(out.is_defined, f_.no(f_.both(equal(a, zero), by_negative)));
  if (view_ != View::AtWidth) {
    narrow_fits(out, f_.within(value, uop::min_int(t), uop::max_int(t)));
    return true;
  }
  return t != Index;
}

}  // namespace assay::smt
