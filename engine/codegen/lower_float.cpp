#include <cmath>

#include "engine/codegen/decompose.h"
#include "engine/codegen/small_float.h"
#include "engine/codegen/term.h"
#include "engine/codegen/transcendental.h"
#include "engine/uop/bounds.h"
#include "engine/uop/eval.h"
#include "engine/uop/rewrite.h"

namespace assay::codegen {
namespace {

using uop::F16;
using uop::F32;
using uop::FloatBounds;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;
using uop::Run;

constexpr OpSet kArithmetic = {Op::Neg, Op::Add, Op::Sub, Op::Mul, Op::FDiv, Op::Recip, Op::Sqrt};
constexpr OpSet kLibrary = {Op::Exp, Op::Exp2, Op::Log, Op::Log2,
                            Op::Sin, Op::Cos,  Op::Tan, Op::Pow};
constexpr OpSet kWhole = {Op::Trunc, Op::Floor, Op::Ceil, Op::Round};

bool may_be_zero(const FloatBounds& b) { return b.lo <= 0 && b.hi >= 0; }

// max or min of x and a constant that is a number. Where they are equal x is right, but for zeros.
Ref extreme_of_constant(Op op, Term x, Term c) {
  const double value = as_double(c.u->value());
  const bool positive_zero = value == 0 && !std::signbit(value);
  const bool negative_zero = value == 0 && std::signbit(value);
  if (op == Op::Max) {
    const Term picked = where(x < c, c, x);
    return (positive_zero ? picked + 0 : picked).u;  // -0.0 + 0.0 is 0.0
  }
  return negative_zero ? nullptr : where(c < x, c, x).u;
}

// Of equal numbers the signs of zeros decide: bits in common are those of max, all bits of min.
Ref extreme(Op op, Term x, Term y) {
  const FloatBounds a = uop::float_bounds(*x.g, x.u);
  const FloatBounds b = uop::float_bounds(*y.g, y.u);
  // Where y is NaN, x is not read.
  if (b.may_be_nan && uop::may_be_invalid(*x.g, x.u)) return nullptr;
  const Term less = op == Op::Max ? x < y : y < x;
  Term result = where(less, y, x);
  if (may_be_zero(a) && may_be_zero(b)) {
    const uop::DType bits = unsigned_of(x.type());
    const Term x_bits = bits_as(x, bits);
    const Term y_bits = bits_as(y, bits);
    const Term both = op == Op::Max ? x_bits & y_bits : x_bits | y_bits;
    const Term equal = x == y;
    result = where(equal, bits_as(both, x.type()), result);
  }
  return (b.may_be_nan ? where(y == y, result, y) : result).u;
}

Ref max_min(Run& run, Ref u) {
  Graph& g = run.graph();
  const uop::Target& target = run.target();
  if (target.math.native.has(u->op) && uop::ulp_limit(target, u->op, u->dtype)) return nullptr;
  const Term x = {&g, u->src[0]};
  const Term y = {&g, u->src[1]};
  if (uop::is_const(y.u) && !is_nan(y.u->value())) {
    if (const Ref by_constant = extreme_of_constant(u->op, x, y)) return by_constant;
  }
  if (uop::is_const(x.u) && !is_nan(x.u->value())) {
    if (const Ref by_constant = extreme_of_constant(u->op, y, x)) return by_constant;
  }
  return extreme(u->op, x, y);
}

// magnitude of the sign of x.
Term with_sign_of(Term x, Term magnitude) {
  const uop::DType bits = unsigned_of(x.type());
  const Term mask = x.integer(bits, int64_t{1} << (uop::bits_of(bits) - 1));
  const Term sign = bits_as(x, bits) & mask;
  return bits_as(bits_as(magnitude, bits) | sign, x.type());
}

Term magnitude_of(Term x) {
  const uop::DType bits = unsigned_of(x.type());
  const Term mask = x.integer(bits, (int64_t{1} << (uop::bits_of(bits) - 1)) - 1);
  return bits_as(bits_as(x, bits) & mask, x.type());
}

// A magnitude below 2^mantissa_bits loses its fraction when that is added.
Term round_magnitude(Term m) {
  const double end = std::ldexp(1.0, uop::format_of(m.type()).mantissa_bits);
  const Term cut = (m + end) - end;
  return where(m < end, cut, m);
}

Term floor_magnitude(Term m) {
  const Term r = round_magnitude(m);
  const Term below = r - 1;
  return where(m < r, below, r);
}

// PoCL's compiler breaks down where it is to fold rint of a constant, so none is left.
Ref whole(Run& run, Ref u) {
  if (is_const(u->src[0])) {
    const uop::Value x = u->src[0]->value();
    const std::optional<uop::Value> v = uop::eval(u->op, u->dtype, {&x, 1});
    return v ? run.graph().constant(*v) : nullptr;
  }
  if (uop::ulp_limit(run.target(), u->op, u->dtype)) return nullptr;
  const Term x = {&run.graph(), u->src[0]};
  if (u->op == Op::Floor || u->op == Op::Ceil) {
    const Term r = with_sign_of(x, round_magnitude(magnitude_of(x)));
    const Term off = u->op == Op::Floor ? x < r : r < x;
    const Term next = r + (u->op == Op::Floor ? -1.0 : 1.0);
    return with_sign_of(x, magnitude_of(where(off, next, r))).u;
  }
  const Term m = magnitude_of(x);
  return with_sign_of(x, u->op == Op::Round ? round_magnitude(m) : floor_magnitude(m)).u;
}

// At f16 what the target has at f32 only, or has no own polynomials for.
Ref by_f32(Run& run, Ref u) {
  const auto limit = uop::ulp_limit(run.target(), u->op, u->dtype);
  const bool native = run.target().math.native.has(u->op);
  if (limit && (native || !kLibrary.has(u->op))) return nullptr;
  Graph& g = run.graph();
  std::vector<Term> wide;
  for (const Ref s : u->src) wide.push_back(cast({&g, s}, F32));
  if (u->op == Op::Fma) return cast(narrow_fma(wide[0], wide[1], wide[2], F16), F16).u;
  if (wide.size() == 1) return cast(wide[0].make(u->op), F16).u;
  return cast(wide[0].make(u->op, {wide[1]}), F16).u;
}

}  // namespace

const uop::RuleSet& lower_float_rules() {
  using uop::by;
  static constexpr uop::TypeSet kOwn = {F16, F32, uop::F64};
  static const uop::RuleSet rules(
      "lower_float",
      {
          by("max_min", kOwn, {Op::Max, Op::Min}, max_min,
             "the larger or smaller number; NaN where either is, and -0.0 below 0.0"),
          by("cast_float_alu", {F16}, kArithmetic | kLibrary | kWhole | OpSet{Op::Fma}, by_f32,
             "what the target has not at f16 is computed at f32 and rounded"),
          by("whole", {F32, uop::F64}, kWhole, whole,
             "numbers are rounded to whole ones by what they lose to a large one; of constants it "
             "is known"),
      });
  return rules;
}

}  // namespace assay::codegen
