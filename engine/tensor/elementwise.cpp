#include <fmt/format.h>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"

namespace assay::tensor {
namespace {

template <Fn f>
Result<Ref> one(const Building& b) {
  return call(f, operand(b, 0)).u;
}

template <Fn f>
Result<Ref> two(const Building& b) {
  return call(f, operand(b, 0), operand(b, 1)).u;
}

template <Term (*f)(Term, Term)>
Result<Ref> of_two(const Building& b) {
  return f(operand(b, 0), operand(b, 1)).u;
}

Term sign_bit(Term bits) {
  const int width = uop::bits_of(bits.dtype());
  return value(bits, {bits.dtype(), uint64_t{1} << (width - 1)});
}

Term copysign_of(Term x, Term y) {
  const Term bits = to_bits(x);
  const Term sign = sign_bit(bits);
  const Term magnitude = both(bits, negation(sign));
  return from_bits(either(magnitude, both(to_bits(y), sign)), x.dtype());
}

Term sign_of(Term x) {
  const Term zero = number(x, 0);
  const Term above = number(x, 1);
  const bool has_negatives = !uop::is_unsigned(x.dtype());
  const Term side = has_negatives ? where(lt(x, zero), number(x, -1), above) : above;
  const Term signs = where(eq(x, zero), zero, side);
  return uop::is_float(x.dtype()) ? where(is_nan(x), x, signs) : signs;
}

Term square(Term x) { return x * x; }
Term expm1(Term x) { return exp(x) - 1; }
Term log1p(Term x) { return log(x + 1); }
Term log10(Term x) { return call(Fn::Log2, x) * 0.30102999566398119521; }

Term sinh(Term x) { return (exp(x) - exp(-x)) / 2; }
Term cosh(Term x) { return (exp(x) + exp(-x)) / 2; }
Term asinh(Term x) { return log(x + sqrt(x * x + 1)); }
Term acosh(Term x) { return log(x + sqrt(x * x - 1)); }
Term atanh(Term x) {
  const Term one = number(x, 1);
  return log((one + x) / (one - x)) / 2;
}

// ((c0 * x + c1) * x + c2) …
Term polynomial(Term x, std::span<const double> coefficients) {
  Term sum = number(x, coefficients[0]);
  for (const double c : coefficients.subspan(1)) sum = sum * x + c;
  return sum;
}

Term atan_of(Term x) {
  static constexpr double kTerms[] = {0.0028662257,  -0.0161657367, 0.0429096138,
                                      -0.0752896400, 0.1065626393,  -0.1420889944,
                                      0.1999355085,  -0.3333314528, 1};
  const Term one = number(x, 1);
  const Term a = abs_of(x);
  const Term is_large = lt(one, a);
  const Term z = where(is_large, one / a, a);
  const Term p = polynomial(z * z, kTerms) * z;
  return copysign_of(where(is_large, number(x, 1.5707963267948966) - p, p), x);
}

Term asin_of(Term x) {
  const Term one = number(x, 1);
  return atan_of(x / sqrt((one - x) * (one + x)));
}

Term acos_of(Term x) { return number(x, 1.5707963267948966) - asin_of(x); }

Result<Ref> is_inf(const Building& b) {
  const Term x = operand(b, 0);
  const DType t = x.dtype();
  const bool has_infinity = uop::format_of(t).has_infinity;
  if (!has_infinity || (!b.flag("positive") && !b.flag("negative"))) {
    return full(x, uop::of_bool(false), dims_of(x)).u;
  }
  const Term above = eq(x, value(x, uop::highest(t)));
  const Term below = eq(x, value(x, uop::lowest(t)));
  if (!b.flag("negative")) return above.u;
  return b.flag("positive") ? either(above, below).u : below.u;
}

Result<Ref> cast_of(const Building& b) { return cast(operand(b, 0), b.dtype()).u; }

Term fmod(Term x, Term y) { return x - call(Fn::Trunc, x / y) * y; }
Term gt(Term x, Term y) { return lt(y, x); }
Term ge(Term x, Term y) { return le(y, x); }

Result<Ref> where_of(const Building& b) {
  return where(operand(b, 0), operand(b, 1), operand(b, 2)).u;
}

Result<Ref> clip(const Building& b) {
  Term x = operand(b, 0);
  if (has_operand(b, 1)) x = maximum(x, operand(b, 1));
  if (has_operand(b, 2)) x = minimum(x, operand(b, 2));
  return x.u;
}

Result<Ref> lerp(const Building& b) {
  const Term x = operand(b, 0);
  return (x + (operand(b, 1) - x) * operand(b, 2)).u;
}

constexpr BuildRow kElementwiseRows[] = {
    {Op::Neg, one<Fn::Neg>},
    {Op::Not, one<Fn::Not>},
    {Op::Abs, of_one<abs_of>},
    {Op::Sign, of_one<sign_of>},
    {Op::Square, of_one<square>},
    {Op::Recip, one<Fn::Recip>},
    {Op::Sqrt, one<Fn::Sqrt>},
    {Op::Rsqrt, of_one<rsqrt>},
    {Op::Exp, one<Fn::Exp>},
    {Op::Exp2, one<Fn::Exp2>},
    {Op::Expm1, of_one<expm1>},
    {Op::Log, one<Fn::Log>},
    {Op::Log2, one<Fn::Log2>},
    {Op::Log10, of_one<log10>},
    {Op::Log1p, of_one<log1p>},
    {Op::Sin, one<Fn::Sin>},
    {Op::Cos, one<Fn::Cos>},
    {Op::Tan, one<Fn::Tan>},
    {Op::Asin, of_one<asin_of>},
    {Op::Acos, of_one<acos_of>},
    {Op::Atan, of_one<atan_of>},
    {Op::Sinh, of_one<sinh>},
    {Op::Cosh, of_one<cosh>},
    {Op::Asinh, of_one<asinh>},
    {Op::Acosh, of_one<acosh>},
    {Op::Atanh, of_one<atanh>},
    {Op::Erf, of_one<erf_of>},
    {Op::Floor, one<Fn::Floor>},
    {Op::Ceil, one<Fn::Ceil>},
    {Op::Round, one<Fn::Round>},
    {Op::Trunc, one<Fn::Trunc>},
    {Op::IsNan, of_one<is_nan>},
    {Op::IsInf, is_inf},
    {Op::Cast, cast_of},
    {Op::Add, two<Fn::Add>},
    {Op::Sub, two<Fn::Sub>},
    {Op::Mul, two<Fn::Mul>},
    {Op::Div, two<Fn::FDiv>},
    {Op::IDiv, two<Fn::Div>},
    {Op::Mod, two<Fn::Mod>},
    {Op::TDiv, two<Fn::TDiv>},
    {Op::TMod, two<Fn::TMod>},
    {Op::FMod, of_two<fmod>},
    {Op::Maximum, two<Fn::Max>},
    {Op::Minimum, two<Fn::Min>},
    {Op::Pow, two<Fn::Pow>},
    {Op::CopySign, of_two<copysign_of>},
    {Op::And, two<Fn::And>},
    {Op::Or, two<Fn::Or>},
    {Op::Xor, two<Fn::Xor>},
    {Op::Shl, two<Fn::Shl>},
    {Op::Shr, two<Fn::Shr>},
    {Op::Lt, two<Fn::Lt>},
    {Op::Le, of_two<le>},
    {Op::Gt, of_two<gt>},
    {Op::Ge, of_two<ge>},
    {Op::Eq, two<Fn::Eq>},
    {Op::Ne, two<Fn::Ne>},
    {Op::Where, where_of},
    {Op::Clip, clip},
    {Op::Lerp, lerp},
};

}  // namespace

std::span<const BuildRow> elementwise_builds() { return kElementwiseRows; }

Term abs_of(Term x) {
  if (uop::is_unsigned(x.dtype())) return x;
  if (!uop::is_float(x.dtype())) return maximum(x, -x);
  const Term bits = to_bits(x);
  return from_bits(both(bits, negation(sign_bit(bits))), x.dtype());
}

Term erf_of(Term x) {
  static constexpr double kTerms[] = {1.061405429, -1.453152027, 1.421413741, -0.284496736,
                                      0.254829592};
  const Term one = number(x, 1);
  const Term t = one / (one + number(x, 0.3275911) * abs_of(x));
  const Term p = polynomial(t, kTerms) * t;
  return sign_of(x) * (one - p * call(Fn::Exp, -(x * x)));
}

}  // namespace assay::tensor
