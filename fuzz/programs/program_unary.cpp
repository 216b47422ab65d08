#include <cmath>

#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {
namespace {

using tensor::Op;

double identity(double x) { return x; }
double negated(double x) { return -x; }
double squared(double x) { return x * x; }
double inverted(double x) { return 1 / x; }
double inverse_root(double x) { return 1 / std::sqrt(x); }
double root(double x) { return std::sqrt(x); }
double magnitude(double x) { return std::fabs(x); }
double to_exp(double x) { return std::exp(x); }
double to_exp2(double x) { return std::exp2(x); }
double to_log(double x) { return std::log(x); }
double to_log2(double x) { return std::log2(x); }
double to_log10(double x) { return std::log10(x); }
double to_log1p(double x) { return std::log1p(x); }
double to_tan(double x) { return std::tan(x); }
double to_sinh(double x) { return std::sinh(x); }
double to_cosh(double x) { return std::cosh(x); }
double to_asinh(double x) { return std::asinh(x); }
double to_acosh(double x) { return std::acosh(x); }
double to_atanh(double x) { return std::atanh(x); }
double positive(double x) { return std::max(x, 0.0); }
double one(double) { return 1; }
double quarter_turn(double) { return 1.6; }
double half_turn(double) { return 3.2; }

// How the ends of a result follow from those of the operand.
enum class Goes : uint8_t {
  Rising,   // f(lo), f(hi)
  Falling,  // f(hi), f(lo)
  Even,     // f grows with the magnitude
  Within,   // -f to f, whatever the operand
  Above,    // 0 to f
};

// Which operands a function is asked about: those that lie within lo and hi. Others are given it
// rarely, and only where they are exact, so that it is known on which side of an edge they are.
constexpr double kExponent = 1e99;  // the largest exponent of the type
constexpr double kAny = HUGE_VAL;

struct Unary {
  Op op;
  double lo, hi;
  Goes ends;
  double (*f)(double);
  bool keeps = false;  // rounds nothing
  bool steps = false;  // jumps, so the operand must be exact
  bool wide = false;   // needs more than 8 bits to say anything
};

constexpr Unary kUnary[] = {
    {Op::Neg, -kAny, kAny, Goes::Falling, negated, true},
    {Op::Abs, -kAny, kAny, Goes::Even, magnitude, true},
    {Op::Sign, -kAny, kAny, Goes::Within, one, true, true},
    {Op::Square, -1e3, 1e3, Goes::Even, squared},
    {Op::Recip, 0.01, 1e4, Goes::Falling, inverted},
    {Op::Sqrt, 0.01, kAny, Goes::Rising, root},
    {Op::Rsqrt, 0.01, 1e6, Goes::Falling, inverse_root},
    {Op::Exp, -kExponent, kExponent, Goes::Rising, to_exp},
    {Op::Exp2, -kExponent, kExponent, Goes::Rising, to_exp2},
    {Op::Expm1, -kExponent, kExponent, Goes::Rising, to_exp},
    {Op::Log, 0.01, kAny, Goes::Rising, to_log},
    {Op::Log2, 0.01, kAny, Goes::Rising, to_log2},
    {Op::Log10, 0.01, kAny, Goes::Rising, to_log10},
    {Op::Log1p, -0.9, kAny, Goes::Rising, to_log1p},
    {Op::Sin, -1e3, 1e3, Goes::Within, one},
    {Op::Cos, -1e3, 1e3, Goes::Within, one},
    {Op::Tan, -1.4, 1.4, Goes::Rising, to_tan},
    {Op::Asin, -0.9, 0.9, Goes::Within, quarter_turn, false, false, true},
    {Op::Acos, -0.9, 0.9, Goes::Above, half_turn, false, false, true},
    {Op::Atan, -kAny, kAny, Goes::Within, quarter_turn, false, false, true},
    {Op::Sinh, -kExponent, kExponent, Goes::Rising, to_sinh},
    {Op::Cosh, -kExponent, kExponent, Goes::Even, to_cosh},
    {Op::Tanh, -4, 4, Goes::Within, one},
    {Op::Asinh, -2, 100, Goes::Rising, to_asinh, false, false, true},
    {Op::Acosh, 1.1, 100, Goes::Rising, to_acosh, false, false, true},
    {Op::Atanh, -0.9, 0.9, Goes::Rising, to_atanh, false, false, true},
    {Op::Erf, -4, 4, Goes::Within, one, false, false, true},
    {Op::Sigmoid, -kExponent, kExponent, Goes::Above, one},
    {Op::Relu, -kAny, kAny, Goes::Rising, positive, true},
    {Op::LeakyRelu, -kAny, kAny, Goes::Rising, identity, false, true},
    {Op::Elu, -4, kAny, Goes::Rising, identity, false, true},
    {Op::Selu, -4, 100, Goes::Rising, squared, false, true},
    {Op::Celu, -4, 4, Goes::Rising, identity},
    {Op::Gelu, -4, 4, Goes::Rising, identity, false, false, true},
    {Op::Silu, -4, 4, Goes::Rising, identity},
    {Op::Softplus, -4, 4, Goes::Rising, to_exp},
    {Op::Softsign, -100, 100, Goes::Within, one},
    {Op::Mish, -4, 4, Goes::Rising, identity, false, false, true},
    {Op::HardSigmoid, -1e3, 1e3, Goes::Above, one},
    {Op::HardSwish, -100, 100, Goes::Rising, identity},
    {Op::Floor, -kAny, kAny, Goes::Rising, identity, true, true},
    {Op::Ceil, -kAny, kAny, Goes::Rising, identity, true, true},
    {Op::Round, -kAny, kAny, Goes::Rising, identity, true, true},
    {Op::Trunc, -kAny, kAny, Goes::Rising, identity, true, true},
};

const Unary& unary_of(Op op) { return *std::ranges::find(kUnary, op, &Unary::op); }

double end_at(double end, DType t) {
  if (end == kExponent) return exponent_of(t) / 2;
  if (end == -kExponent) return -exponent_of(t) / 2;
  return end;
}

void settle_ends(Known& k, const Unary& u, double lo, double hi) {
  const double a = u.f(lo);
  const double b = u.f(hi);
  switch (u.ends) {
    case Goes::Rising: return settle(k, std::min({a, lo, -1.0}), std::max({b, hi, 1.0}));
    case Goes::Falling: return settle(k, std::min(a, b), std::max(a, b));
    case Goes::Even: return settle(k, 0, std::max(a, b));
    case Goes::Within: return settle(k, -b, b);
    case Goes::Above: return settle(k, 0, b);
  }
}

// What rises is known at both of its ends where it is a function of its own.
bool is_pointwise(const Unary& u) {
  return u.ends == Goes::Rising && u.f != identity && u.f != squared;
}

bool draw_unary(ProgramMaker& m, Op op) {
  const Unary& u = unary_of(op);
  const TypeSet over = tensor::row(op).over & (uop::kFloats | uop::kFixedInts);
  const auto fits = [&](const Known& k) {
    if (!over.has(k.dtype) || (u.wide && uop::bits_of(k.dtype) == 8)) return false;
    if (u.steps && !k.is_exact) return false;
    if (k.within(end_at(u.lo, k.dtype), end_at(u.hi, k.dtype))) return true;
    return k.is_exact && m.c.chance(1, 8);
  };
  const Known* x = m.find(fits);
  if (x == nullptr) {
    if (!m.has_room(2)) return false;
    const DType t = m.type_in(over);
    if (u.wide && uop::bits_of(t) == 8) return false;
    const double lo = std::max(end_at(u.lo, t), uop::is_unsigned(t) ? 0.0 : -8.0);
    x = m.input(t, m.shape(), lo, std::min(end_at(u.hi, t), std::max(lo + 1, 8.0)));
  }
  const bool is_inside = x->within(end_at(u.lo, x->dtype), end_at(u.hi, x->dtype));
  const double lo = std::max(x->lo, end_at(u.lo, x->dtype));
  const double hi = std::min(x->hi, end_at(u.hi, x->dtype));
  Known* y = m.add(op, x->dtype, x->shape, {m.of(*x)});
  y->is_exact = x->is_exact && (u.keeps || !x->is_float());
  if (is_pointwise(u)) {
    settle(*y, u.f(lo), u.f(hi));
  } else {
    settle_ends(*y, u, lo, hi);
  }
  y->is_special = y->is_special || !is_inside;
  if (op == Op::Expm1) settle(*y, -1, y->hi);
  if (op == Op::Gelu && m.c.chance(1, 2)) m.set("approximate", std::string("tanh"));
  return true;
}

bool draw_not(ProgramMaker& m, Op op) {
  const Known* x = m.any(uop::kFixedInts | uop::kBool);
  if (x == nullptr) return false;
  Known* y = m.add(op, x->dtype, x->shape, {m.of(*x)});
  settle(*y, least_of(x->dtype), most_of(x->dtype));
  return true;
}

bool draw_is(ProgramMaker& m, Op op) {
  const Known* x = m.any_float();
  if (x == nullptr || !(x->is_exact || x->within(-1e4, 1e4))) return false;
  Known* y = m.add(op, DType::Bool, x->shape, {m.of(*x)});
  settle(*y, 0, 1);
  y->is_exact = true;
  y->is_special = false;
  if (op == Op::IsInf && m.c.chance(1, 3)) m.set("negative", false);
  return true;
}

// Casts of floats to integers cut, so the float is exact and the integer holds it.
bool draw_cast(ProgramMaker& m, Op op) {
  const Known* x = m.any(uop::kFloats | uop::kFixedInts | uop::kBool);
  if (x == nullptr) return false;
  const bool was_float = x->is_float();
  const TypeSet to =
      was_float && !x->is_exact ? uop::kFloats : uop::kFloats | uop::kFixedInts | uop::kBool;
  const DType t = m.type_in(to);
  const bool is_cut = was_float && uop::is_fixed_int(t);
  if (is_cut && !x->within(least_of(t), most_of(t)) && !m.c.chance(1, 64)) return false;
  if (uop::is_float(t) && !x->is_exact && !x->within(least_of(t) / 2, most_of(t) / 2)) return false;
  Known* y = m.add(op, t, x->shape, {m.of(*x)});
  y->is_special = y->is_special && uop::is_float(t);
  if (t == DType::Bool) {
    settle(*y, 0, 1);
  } else {
    settle(*y, x->lo, x->hi);
  }
  return true;
}

}  // namespace

std::span<const Draw> unary_draws() {
  static const std::vector<Draw> rows = [] {
    std::vector<Draw> result;
    for (const Unary& u : kUnary) {
      const bool is_common = u.op <= Op::Log2 || u.op == Op::Relu || u.op == Op::Sin;
      result.push_back({u.op, is_common ? 4 : 2, draw_unary});
    }
    result.push_back({Op::Not, 5, draw_not});
    result.push_back({Op::IsNan, 2, draw_is});
    result.push_back({Op::IsInf, 2, draw_is});
    result.push_back({Op::Cast, 24, draw_cast});
    return result;
  }();
  return rows;
}

}  // namespace assay::fuzz
