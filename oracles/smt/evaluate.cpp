#include "oracles/smt/evaluate.h"

#include <numeric>

#include "engine/uop/eval.h"

namespace assay::smt {
namespace {

using uop::Op;
using uop::Value;
using Kind = Sort::Kind;
using Maybe = std::optional<Number>;

// Beyond so much no product of two numbers is tried.
constexpr Int128 kMost = Int128{1} << 100;

Maybe of_truth(bool b) { return Number{b ? 1 : 0}; }

// Numbers above 2^100 have no value here: that leaves room for one more operation.
Maybe of_number(Int128 n, Int128 d = 1) {
  if (d < 0) {
    n = -n;
    d = -d;
  }
  if (d != 1) {
    Int128 a = n < 0 ? -n : n;
    Int128 b = d;
    while (b != 0) {
      const Int128 rest = a % b;
      a = b;
      b = rest;
    }
    n /= a;
    d /= a;
  }
  if (n > kMost || n < -kMost || d > kMost) return std::nullopt;
  return Number{n, d};
}

std::optional<Int128> product(Int128 a, Int128 b) {
  Int128 result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

Int128 floor_quotient(Int128 a, Int128 b) {
  const Int128 q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

// n1/d1 compared with n2/d2: their difference's sign.
std::optional<int> compared(const Number& a, const Number& b) {
  const auto left = product(a.n, b.d);
  const auto right = product(b.n, a.d);
  if (!left || !right) return std::nullopt;
  return *left < *right ? -1 : (*left > *right ? 1 : 0);
}

Maybe sum(const Number& a, const Number& b, int sign) {
  const auto left = product(a.n, b.d);
  const auto right = product(b.n, a.d);
  const auto below = product(a.d, b.d);
  if (!left || !right || !below) return std::nullopt;
  Int128 n = 0;
  if (__builtin_add_overflow(*left, sign * *right, &n)) return std::nullopt;
  return of_number(n, *below);
}

Maybe times(const Number& a, const Number& b) {
  const auto n = product(a.n, b.n);
  const auto d = product(a.d, b.d);
  return n && d ? of_number(*n, *d) : std::nullopt;
}

Maybe arithmetic(Fn fn, std::span<const Number> x) {
  switch (fn) {
    case Fn::Add: {
      Maybe all = x[0];
      for (size_t i = 1; all && i < x.size(); i++) all = sum(*all, x[i], 1);
      return all;
    }
    case Fn::Sub: return sum(x[0], x[1], -1);
    case Fn::Neg: return of_number(-x[0].n, x[0].d);
    case Fn::Mul: return times(x[0], x[1]);
    case Fn::Div: return x[1].n == 0 ? Number{0} : of_number(floor_quotient(x[0].n, x[1].n));
    case Fn::Mod:
      return x[1].n == 0 ? x[0] : of_number(x[0].n - floor_quotient(x[0].n, x[1].n) * x[1].n);
    case Fn::Quotient:
      return x[1].n == 0 ? std::nullopt
                         : times(x[0], Number{x[1].n < 0 ? -x[1].d : x[1].d,
                                              x[1].n < 0 ? -x[1].n : x[1].n});
    case Fn::ToReal: return x[0];
    default: return std::nullopt;
  }
}

int64_t with_sign(Int128 bits, int width) {
  const auto low = static_cast<uint64_t>(bits) << (64 - width);
  return static_cast<int64_t>(low) >> (64 - width);
}

uint64_t low_bits(uint64_t x, int width) {
  return width == 64 ? x : x & ((uint64_t{1} << width) - 1);
}

uint64_t shifted(Fn fn, uint64_t x, uint64_t by, int width) {
  const auto bits = static_cast<uint64_t>(width);
  if (fn == Fn::Ashr) {
    return static_cast<uint64_t>(with_sign(x, width) >> (by >= bits ? bits - 1 : by));
  }
  if (by >= bits) return 0;
  return fn == Fn::Shl ? x << by : x >> by;
}

// As SMT-LIB has it: by zero the quotient is all ones (of a negative number 1), the remainder x.
uint64_t divided(Fn fn, uint64_t a, uint64_t b, int width) {
  if (fn == Fn::Udiv) return b == 0 ? ~uint64_t{0} : a / b;
  if (fn == Fn::Urem) return b == 0 ? a : a % b;
  const Int128 x = with_sign(a, width);
  const Int128 y = with_sign(b, width);
  if (fn == Fn::Sdiv) return static_cast<uint64_t>(y == 0 ? (x < 0 ? 1 : -1) : x / y);
  return static_cast<uint64_t>(y == 0 ? x : x % y);
}

Maybe of_bits(Fn fn, int width, std::span<const Sort> sorts, std::span<const Number> x) {
  const auto a = static_cast<uint64_t>(x[0].n);
  const uint64_t b = x.size() > 1 ? static_cast<uint64_t>(x[1].n) : 0;
  uint64_t result = 0;
  switch (fn) {
    case Fn::BitAdd: result = a + b; break;
    case Fn::BitSub: result = a - b; break;
    case Fn::BitMul: result = a * b; break;
    case Fn::BitNeg: result = -a; break;
    case Fn::BitAnd: result = a & b; break;
    case Fn::BitOr: result = a | b; break;
    case Fn::BitXor: result = a ^ b; break;
    case Fn::BitNot: result = ~a; break;
    case Fn::Shl:
    case Fn::Lshr:
    case Fn::Ashr: result = shifted(fn, a, b, width); break;
    case Fn::Udiv:
    case Fn::Urem:
    case Fn::Sdiv:
    case Fn::Srem: result = divided(fn, a, b, width); break;
    case Fn::Ult: return of_truth(a < b);
    case Fn::Slt: return of_truth(with_sign(a, sorts[0].bits) < with_sign(b, sorts[0].bits));
    case Fn::Extract:
    case Fn::ZeroExtend: result = a; break;
    case Fn::SignExtend: result = static_cast<uint64_t>(with_sign(a, sorts[0].bits)); break;
    default: return std::nullopt;
  }
  return Number{static_cast<Int128>(low_bits(result, width))};
}

std::optional<Op> float_op(Fn fn) {
  switch (fn) {
    case Fn::FloatAdd: return Op::Add;
    case Fn::FloatSub: return Op::Sub;
    case Fn::FloatMul: return Op::Mul;
    case Fn::FloatDiv: return Op::FDiv;
    case Fn::FloatFma: return Op::Fma;
    case Fn::FloatSqrt: return Op::Sqrt;
    case Fn::Round: return Op::Round;
    case Fn::Floor: return Op::Floor;
    case Fn::Ceil: return Op::Ceil;
    case Fn::Trunc: return Op::Trunc;
    default: return std::nullopt;
  }
}

Maybe of_value(const std::optional<Value>& v) {
  if (!v) return std::nullopt;
  return Number{static_cast<Int128>(uop::is_nan(*v) ? uop::nan_of(v->dtype).bits : v->bits)};
}

// An integer of Bits, in the one fixed type of that width and sign.
std::optional<Value> integer_value(const Sort& sort, Int128 bits, bool is_signed) {
  static constexpr uop::DType kSigned[] = {uop::DType::I8, uop::DType::I16, uop::DType::I32,
                                           uop::DType::I64};
  static constexpr uop::DType kUnsigned[] = {uop::DType::U8, uop::DType::U16, uop::DType::U32,
                                             uop::DType::U64};
  for (size_t i = 0; i < 4; i++) {
    const uop::DType t = is_signed ? kSigned[i] : kUnsigned[i];
    if (uop::bits_of(t) != sort.bits) continue;
    return uop::of_int(t, is_signed ? Int128{with_sign(bits, sort.bits)} : bits);
  }
  return std::nullopt;
}

bool sign_bit(const Value& v) { return ((v.bits >> (uop::bits_of(v.dtype) - 1)) & 1) != 0; }

Maybe of_one_float(Fn fn, const Value& v) {
  const double number = uop::as_double(v);
  const int top = uop::bits_of(v.dtype) - 1;
  const bool is_nan = uop::is_nan(v);
  switch (fn) {
    case Fn::FloatNeg: return of_value(Value{v.dtype, v.bits ^ (uint64_t{1} << top)});
    case Fn::FloatAbs: return of_value(Value{v.dtype, v.bits & ~(uint64_t{1} << top)});
    case Fn::IsNan: return of_truth(is_nan);
    case Fn::IsInf: return of_truth(!is_nan && number - number != 0);
    case Fn::IsZero: return of_truth(number == 0);
    case Fn::IsNegative: return of_truth(!is_nan && sign_bit(v));
    default: return std::nullopt;
  }
}

Maybe of_floats(Fn fn, Sort result, std::span<const Sort> sorts, std::span<const Number> x) {
  Value v[3];
  for (size_t i = 0; i < x.size(); i++) {
    v[i] = {sorts[i].type, static_cast<uint64_t>(x[i].n)};
  }
  if (const std::optional<Op> op = float_op(fn)) {
    return of_value(uop::eval(*op, result.type, std::span(v, x.size())));
  }
  switch (fn) {
    case Fn::FloatLt: return of_truth(uop::as_double(v[0]) < uop::as_double(v[1]));
    case Fn::FloatLe: return of_truth(uop::as_double(v[0]) <= uop::as_double(v[1]));
    case Fn::FloatEq: return of_truth(uop::as_double(v[0]) == uop::as_double(v[1]));
    case Fn::FloatOfFloat: return of_value(uop::cast(v[0], result.type));
    case Fn::FloatToS:
    case Fn::FloatToU: {
      const auto type = integer_value(result, 0, fn == Fn::FloatToS);
      const auto cut = type ? uop::cast(v[0], type->dtype) : std::nullopt;
      if (!cut) return std::nullopt;
      return Number{static_cast<Int128>(low_bits(cut->bits, result.bits))};
    }
    default: return of_one_float(fn, v[0]);
  }
}

Maybe to_float(Fn fn, Sort result, const Sort& sort, const Number& x) {
  if (fn == Fn::FloatOfBits) {
    return of_value(Value{result.type, static_cast<uint64_t>(x.n)});
  }
  const auto v = integer_value(sort, x.n, fn == Fn::FloatOfS);
  return v ? of_value(uop::cast(*v, result.type)) : std::nullopt;
}

Maybe of_truths(Fn fn, std::span<const Number> x) {
  switch (fn) {
    case Fn::Not: return of_truth(x[0].n == 0);
    case Fn::Xor: return of_truth((x[0].n != 0) != (x[1].n != 0));
    default: return std::nullopt;
  }
}

}  // namespace

Maybe apply(Fn fn, Sort result, std::span<const Sort> sorts, std::span<const Number> x) {
  if (fn == Fn::Equal) return of_truth(x[0] == x[1]);
  if (fn == Fn::Ite) return x[0].n != 0 ? x[1] : x[2];
  if (fn == Fn::Lt || fn == Fn::Le) {
    const std::optional<int> sign = compared(x[0], x[1]);
    if (!sign) return std::nullopt;
    return of_truth(fn == Fn::Lt ? *sign < 0 : *sign <= 0);
  }
  switch (sorts[0].kind) {
    case Kind::Bool: return of_truths(fn, x);
    case Kind::Int:
    case Kind::Real: return arithmetic(fn, x);
    case Kind::Float: return of_floats(fn, result, sorts, x);
    default: break;
  }
  if (result.kind == Kind::Float) return to_float(fn, result, sorts[0], x[0]);
  return of_bits(fn, result.kind == Kind::Bits ? result.bits : sorts[0].bits, sorts, x);
}

std::vector<uint32_t> needed_nodes(const Formula& f) {
  std::vector<uint8_t> needed(f.nodes().size(), 0);
  for (const Term t : f.required()) needed[t.id] = 1;
  for (size_t i = needed.size(); i-- > 0;) {
    if (needed[i] == 0) continue;
    for (const Term t : f.operands(Term{static_cast<uint32_t>(i)})) needed[t.id] = 1;
  }
  std::vector<uint32_t> order;
  for (size_t i = 0; i < needed.size(); i++) {
    if (needed[i] != 0) order.push_back(static_cast<uint32_t>(i));
  }
  return order;
}

Evaluation::Evaluation(const Formula& f)
    : f_(f), order_(needed_nodes(f)), values_(f.nodes().size()) {}

// What some operands decide does not depend on the others.
Maybe Evaluation::value(const Formula::Node& node, std::span<const Number> variables) const {
  if (node.fn == Fn::Number) return Number{node.payload};
  if (node.fn == Fn::Variable) return variables[static_cast<size_t>(node.payload)];
  if (node.fn == Fn::Opaque) return std::nullopt;
  const auto operands = std::span(f_.operands(Term{order_[at_]}));
  std::vector<Sort> sorts;
  std::vector<Number> numbers;
  bool all_known = true;
  for (const Term t : operands) {
    const Maybe& v = values_[t.id];
    if (node.fn == Fn::And && v && v->n == 0) return of_truth(false);
    if (node.fn == Fn::Or && v && v->n != 0) return of_truth(true);
    all_known = all_known && v.has_value();
    sorts.push_back(f_.sort(t));
    numbers.push_back(v.value_or(Number{}));
  }
  if (node.fn == Fn::Ite && values_[operands[0].id]) {
    return values_[operands[values_[operands[0].id]->n != 0 ? 1 : 2].id];
  }
  if (!all_known) return std::nullopt;
  if (node.fn == Fn::And || node.fn == Fn::Or) return of_truth(node.fn == Fn::And);
  return apply(node.fn, node.sort, sorts, numbers);
}

std::optional<bool> Evaluation::holds(std::span<const Number> variables) {
  for (at_ = 0; at_ < order_.size(); at_++) {
    values_[order_[at_]] = value(f_.nodes()[order_[at_]], variables);
  }
  bool is_known = true;
  for (const Term t : f_.required()) {
    const Maybe& v = values_[t.id];
    if (v && v->n == 0) return false;
    is_known = is_known && v.has_value();
  }
  return is_known ? std::optional(true) : std::nullopt;
}

}  // namespace assay::smt
