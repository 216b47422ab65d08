// Floats as IEEE numbers and as reals, and conversions from and to them.
#include <fmt/format.h>

#include <cmath>

#include "oracles/smt/encode.h"

namespace assay::smt {
namespace {

using uop::Bool;
using uop::DType;
using uop::Index;
using uop::Op;
using uop::Ref;

// 2^k at a float type, infinity where it has no such number; 0 <= k.
uop::Value float_power(DType t, int k) {
  const uop::FloatFormat format = uop::format_of(t);
  const int exponent = k > format.bias() ? 2 * format.bias() + 1 : k + format.bias();
  return {t, static_cast<uint64_t>(exponent) << format.mantissa_bits};
}

Fn rounding_of(Op op) {
  switch (op) {
    case Op::Trunc: return Fn::Trunc;
    case Op::Floor: return Fn::Floor;
    case Op::Ceil: return Fn::Ceil;
    default: return Fn::Round;
  }
}

Term fresh_bits_of(Formula& f, Term x, int bits) {
  return f.opaque(fmt::format("bits of f{}", bits), bits_sort(bits), std::span(&x, 1));
}

}  // namespace

Term Encoder::real(uop::Value v) {
  int exponent = 0;
  const double mantissa = std::frexp(uop::as_double(v), &exponent);
  const auto whole = static_cast<int64_t>(std::ldexp(mantissa, 53));
  exponent -= 53;
  Int128 top = whole;
  while (exponent < 0 && top % 2 == 0 && top != 0) {
    top /= 2;
    exponent++;
  }
  if (top == 0) exponent = 0;
  Term value = f_.number(kReal, top);
  // No number of 127 bits holds 2^1074, so it is a product.
  for (int left = std::abs(exponent); left > 0; left -= 60) {
    const Term power = f_.number(kReal, Int128{1} << std::min(left, 60));
    value = exponent > 0 ? f_.mul(value, power) : f_.make(Fn::Quotient, {value, power});
  }
  return value;
}

// NaN if either is; of two zeros the larger is the positive one.
Term Encoder::float_extreme(Op op, Term a, Term b) {
  const bool is_max = op == Op::Max;
  const Term less = is_max ? f_.make(Fn::FloatLt, {a, b}) : f_.make(Fn::FloatLt, {b, a});
  const Term more = is_max ? f_.make(Fn::FloatLt, {b, a}) : f_.make(Fn::FloatLt, {a, b});
  const Term a_is_nan = f_.make(Fn::IsNan, {a});
  const Term b_is_nan = f_.make(Fn::IsNan, {b});
  const Term a_is_negative = f_.make(Fn::IsNegative, {a});
  const Term of_equals = is_max ? f_.ite(a_is_negative, b, a) : f_.ite(a_is_negative, a, b);
  const Term of_numbers = f_.ite(less, b, f_.ite(more, a, of_equals));
  return f_.ite(a_is_nan, a, f_.ite(b_is_nan, b, of_numbers));
}

bool Encoder::of_float(Ref u, Operands x, Encoded& out) {
  const Term a = x[0].value;
  const Term b = x.size() > 1 ? x[1].value : a;
  const auto two = [&](Fn fn) {
    out.value = f_.make(fn, {a, b});
    return true;
  };
  switch (u->op) {
    case Op::Neg: out.value = f_.make(Fn::FloatNeg, {a}); return true;
    case Op::Add: return two(Fn::FloatAdd);
    case Op::Sub: return two(Fn::FloatSub);
    case Op::Mul: return two(Fn::FloatMul);
    case Op::FDiv: return two(Fn::FloatDiv);
    case Op::Recip: {
      const Term one = number(uop::one_of(u->dtype));
      out.value = f_.make(Fn::FloatDiv, {one, a});
      return true;
    }
    case Op::Fma: out.value = f_.make(Fn::FloatFma, {a, b, x[2].value}); return true;
    case Op::Sqrt: out.value = f_.make(Fn::FloatSqrt, {a}); return true;
    case Op::Max:
    case Op::Min: out.value = float_extreme(u->op, a, b); return true;
    case Op::Trunc:
    case Op::Floor:
    case Op::Ceil:
    case Op::Round: out.value = f_.make(rounding_of(u->op), {a}); return true;
    case Op::Pow: return of_power(u, a, b, out);
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan: {
      const auto name = fmt::format("{} {}", uop::to_text(u->op), uop::to_text(u->dtype));
      const Term any = f_.opaque(name, f_.sort(a), std::span(&a, 1));
      out.value = f_.ite(f_.make(Fn::IsNan, {a}), a, any);
      return true;
    }
    default: return false;
  }
}

bool Encoder::of_real(Ref u, Operands x, Encoded& out) {
  const Term a = x[0].value;
  const Term b = x.size() > 1 ? x[1].value : a;
  const Term zero = f_.number(kReal, 0);
  const auto quotient = [&](Term top, Term bottom) {
    out.is_defined = f_.both(out.is_defined, f_.no(f_.equal(bottom, zero)));
    out.value = f_.make(Fn::Quotient, {top, bottom});
    return true;
  };
  switch (u->op) {
    case Op::Neg: out.value = f_.make(Fn::Neg, {a}); return true;
    case Op::Add: out.value = f_.add(a, b); return true;
    case Op::Sub: out.value = f_.sub(a, b); return true;
    case Op::Mul: out.value = f_.mul(a, b); return true;
    case Op::Fma: out.value = f_.add(f_.mul(a, b), x[2].value); return true;
    case Op::FDiv: return quotient(a, b);
    case Op::Recip: return quotient(f_.number(kReal, 1), a);
    case Op::Max: out.value = f_.ite(f_.lt(a, b), b, a); return true;
    case Op::Min: out.value = f_.ite(f_.lt(b, a), b, a); return true;
    case Op::Pow: return of_power(u, a, b, out);
    case Op::Sqrt:
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan: {
      out.value = f_.opaque(uop::to_text(u->op), kReal, std::span(&a, 1));
      const bool has_domain = u->op == Op::Sqrt || u->op == Op::Log || u->op == Op::Log2;
      if (!has_domain) return true;
      const Term inside = u->op == Op::Sqrt ? f_.le(zero, a) : f_.lt(zero, a);
      out.is_defined = f_.both(out.is_defined, inside);
      return true;
    }
    default: return false;
  }
}

bool Encoder::to_integer(Ref u, Term x, Encoded& out) {
  const DType from = u->src[0]->dtype;
  const DType to = u->dtype;
  if (!uop::is_float(from)) {
    if (to == Index && from == uop::U64) {
      const Term fits = view_ == View::AtWidth
                            ? f_.no(f_.make(Fn::Slt, {x, f_.number(bits_sort(64), 0)}))
                            : f_.le(x, f_.integer(uop::max_int(Index)));
      out.is_defined = f_.both(out.is_defined, fits);
    }
    if (view_ != View::AtWidth) {
      out.value = x;
      if (uop::is_fixed_int(to)) {
        narrow_fits(out, f_.within(x, uop::min_int(to), uop::max_int(to)));
      }
      return true;
    }
    const Sort sort = *sort_of(to);
    const int old_bits = uop::bits_of(from);
    const bool narrows = old_bits >= sort.bits;
    const Fn extend = uop::is_unsigned(from) ? Fn::ZeroExtend : Fn::SignExtend;
    out.value = f_.convert(narrows ? Fn::Extract : extend, sort, x);
    return true;
  }
  if (view_ != View::AtWidth || !is_ieee(from)) return false;
  const bool is_signed = !uop::is_unsigned(to);
  const Term whole = f_.make(Fn::Trunc, {x});
  const int digits = uop::bits_of(to) - (is_signed ? 1 : 0);
  const Term end = number(float_power(from, digits));
  const Term least = is_signed ? f_.make(Fn::FloatNeg, {end}) : number(uop::zero_of(from));
  const Term below = f_.make(Fn::FloatLt, {whole, end});
  const Term is_finite = f_.no(f_.make(Fn::IsInf, {x}));
  out.is_defined = f_.both(out.is_defined, f_.both(below, is_finite));
  out.is_defined = f_.both(out.is_defined, f_.make(Fn::FloatLe, {least, whole}));
  out.value = f_.convert(is_signed ? Fn::FloatToS : Fn::FloatToU, *sort_of(to), whole);
  return true;
}

bool Encoder::to_float(Ref u, Term x, Encoded& out) {
  const DType from = u->src[0]->dtype;
  const DType to = u->dtype;
  if (view_ == View::Reals) {
    out.value = uop::is_float(from) ? x : f_.make(Fn::ToReal, {x});
    return true;
  }
  if (to == DType::E4M3 || from == DType::E4M3) return false;
  if (uop::is_float(from)) {
    out.value = f_.convert(Fn::FloatOfFloat, *sort_of(to), x);
    return true;
  }
  if (view_ != View::AtWidth) return false;
  out.value = f_.convert(uop::is_unsigned(from) ? Fn::FloatOfU : Fn::FloatOfS, *sort_of(to), x);
  return true;
}

// The bits of a NaN are not known, so they are some bits that are a NaN's.
bool Encoder::of_bitcast(Ref u, Term x, Encoded& out) {
  const DType from = u->src[0]->dtype;
  const DType to = u->dtype;
  if (from == to) {
    out.value = x;
    return true;
  }
  const bool has_layout = from != Bool && to != Bool && from != Index && to != Index;
  if (!has_layout || uop::bits_of(from) != uop::bits_of(to)) {
    out.is_defined = f_.truth(false);
    const std::optional<Sort> sort = sort_of(to);
    out.value = sort->kind == Sort::Kind::Bool ? f_.truth(false) : f_.number(*sort, 0);
    return true;
  }
  if (view_ != View::AtWidth || from == DType::E4M3 || to == DType::E4M3) return false;
  Term bits = x;
  if (uop::is_float(from)) {
    bits = fresh_bits_of(f_, x, uop::bits_of(from));
    facts_.push_back(f_.equal(f_.convert(Fn::FloatOfBits, *sort_of(from), bits), x));
  }
  out.value = uop::is_float(to) ? f_.convert(Fn::FloatOfBits, *sort_of(to), bits) : bits;
  return true;
}

}  // namespace assay::smt
