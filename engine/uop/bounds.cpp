#include "engine/uop/bounds.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "engine/uop/eval.h"

namespace assay::uop {
namespace {

Int128 clamp(Int128 x) { return std::clamp(x, -kInfinite, kInfinite); }

Int128 times(Int128 a, Int128 b) {
  Int128 product = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &product);
  if (!overflow) return clamp(product);
  return (a < 0) != (b < 0) ? -kInfinite : kInfinite;
}

Bounds full(DType t) {
  if (t == Index) return {-kInfinite, kInfinite};
  return {min_int(t), max_int(t)};
}

// What an exact result in [lo, hi] is at type t.
Bounds at_type(DType t, Int128 lo, Int128 hi) {
  if (t == Index) {
    return {fits(Index, lo) ? lo : (lo < 0 ? -kInfinite : max_int(Index)),
            fits(Index, hi) ? hi : (hi > 0 ? kInfinite : min_int(Index))};
  }
  return fits(t, lo) && fits(t, hi) ? Bounds{lo, hi} : full(t);
}

Bounds join(Bounds a, Bounds b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Bounds corners(DType t, std::initializer_list<Int128> values) {
  return at_type(t, std::min(values), std::max(values));
}

Int128 quotient(Op op, Int128 a, Int128 b) { return op == Op::Div ? floor_div(a, b) : a / b; }

// A quotient is monotone in each operand while the divisor keeps its sign.
Bounds quotient(Op op, DType t, Bounds a, Bounds b) {
  std::optional<Bounds> result;
  const auto add = [&](Int128 lo, Int128 hi) {
    if (lo > hi) return;
    const Int128 values[] = {quotient(op, a.lo, lo), quotient(op, a.lo, hi), quotient(op, a.hi, lo),
                             quotient(op, a.hi, hi)};
    const Bounds part = {*std::min_element(values, values + 4),
                         *std::max_element(values, values + 4)};
    result = result ? join(*result, part) : part;
  };
  add(b.lo, std::min(b.hi, Int128{-1}));
  add(std::max(b.lo, Int128{1}), b.hi);
  if (!result) return full(t);
  // An infinite end stays infinite however it is divided.
  if (a.lo <= -kInfinite || a.hi >= kInfinite) return full(t);
  return at_type(t, result->lo, result->hi);
}

// Floor remainders have the sign of the divisor and are less in magnitude; where all of `a` has one
// quotient they are `a` less a constant.
Bounds floor_remainder(DType t, Bounds a, Bounds b) {
  if (b == Bounds{0, 0}) return full(t);
  if (is_single(b) && b.lo != 0 && a.lo > -kInfinite && a.hi < kInfinite) {
    const Int128 q = floor_div(a.lo, b.lo);
    if (q == floor_div(a.hi, b.lo)) return at_type(t, a.lo - q * b.lo, a.hi - q * b.lo);
  }
  if (b.lo > 0 && a.lo >= 0 && a.hi < b.lo) return a;
  Bounds r = {std::min(b.lo + 1, Int128{0}), std::max(b.hi - 1, Int128{0})};
  if (b.lo > 0 && a.lo >= 0) r.hi = std::min(r.hi, a.hi);
  return at_type(t, r.lo, r.hi);
}

// Truncating remainders have the sign of the dividend.
Bounds trunc_remainder(DType t, Bounds a, Bounds b) {
  if (b == Bounds{0, 0}) return full(t);
  if (b.lo > 0 && a.lo >= 0 && a.hi < b.lo) return a;
  const Int128 most = std::max(std::max(b.hi, -b.lo) - 1, Int128{0});
  return at_type(t, a.lo < 0 ? std::max(a.lo, -most) : 0, a.hi > 0 ? std::min(a.hi, most) : 0);
}

// The least 2^n - 1 that is not below x.
Int128 ones_above(Int128 x) {
  Int128 ones = 0;
  while (ones < x) ones = ones * 2 + 1;
  return ones;
}

Bounds bitwise(Op op, DType t, Bounds a, Bounds b) {
  const bool positive = a.lo >= 0 && b.lo >= 0;
  if (t == Index && (a.hi >= kInfinite || b.hi >= kInfinite)) return full(t);
  if (op == Op::And) {
    if (positive) return {0, std::min(a.hi, b.hi)};
    if (a.lo >= 0) return {0, a.hi};
    if (b.lo >= 0) return {0, b.hi};
    return full(t);
  }
  if (!positive) return full(t);
  return {op == Op::Or ? std::max(a.lo, b.lo) : 0, ones_above(std::max(a.hi, b.hi))};
}

Bounds shifted(Op op, DType t, Bounds a, Bounds by) {
  // Shifts outside the width are unspecified, so they need no bounds.
  const int least = static_cast<int>(std::clamp(by.lo, Int128{0}, Int128{63}));
  const int most = static_cast<int>(std::clamp(by.hi, Int128{0}, Int128{63}));
  if (op == Op::Shl) return product(t, a, {Int128{1} << least, Int128{1} << most});
  if (a.lo <= -kInfinite || a.hi >= kInfinite) return full(t);
  return corners(t, {a.lo >> least, a.lo >> most, a.hi >> least, a.hi >> most});
}

Bounds truth(bool may_be_false, bool may_be_true) {
  return {may_be_false ? 0 : 1, may_be_true ? 1 : 0};
}

Bounds compared(Op op, Bounds a, Bounds b) {
  if (op == Op::Lt) return truth(a.hi >= b.lo, a.lo < b.hi);
  const bool may_be_equal = a.lo <= b.hi && b.lo <= a.hi;
  const bool may_differ = !(is_single(a) && is_single(b) && a.lo == b.lo);
  return op == Op::Eq ? truth(may_differ, may_be_equal) : truth(may_be_equal, may_differ);
}

Bounds compared(Op op, FloatBounds a, FloatBounds b) {
  const bool nan = a.may_be_nan || b.may_be_nan;
  if (op == Op::Lt) return truth(nan || a.hi >= b.lo, a.lo < b.hi);
  const bool may_be_equal = a.lo <= b.hi && b.lo <= a.hi;
  const bool may_differ = nan || !(a.lo == a.hi && b.lo == b.hi && a.lo == b.lo);
  return op == Op::Eq ? truth(may_differ, may_be_equal) : truth(may_be_equal, may_differ);
}

Bounds of_leaf(Ref u) {
  if (is_const(u)) return {as_int(u->value()), as_int(u->value())};
  if (u->op != Op::Variable || u->arg.numbers().empty()) return full(u->dtype);
  const auto ends = u->arg.numbers();
  return {as_int({u->dtype, static_cast<uint64_t>(ends[0])}),
          as_int({u->dtype, static_cast<uint64_t>(ends[1])})};
}

Bounds of_cast(Graph& g, Ref u) {
  const DType t = u->dtype;
  const Ref s = u->src[0];
  if (is_float(s->dtype)) {
    const FloatBounds f = float_bounds(g, s);
    if (t == Bool || !(std::fabs(f.lo) < 0x1p63 && std::fabs(f.hi) < 0x1p63)) return full(t);
    // Values that t cannot hold are unspecified, so only those that it can need bounds.
    const Bounds cut = {static_cast<Int128>(std::trunc(f.lo)),
                        static_cast<Int128>(std::trunc(f.hi))};
    return fits(t, cut.lo) && fits(t, cut.hi) ? cut : full(t);
  }
  const Bounds b = bounds(g, s);
  if (t != Bool) return at_type(t, b.lo, b.hi);
  return truth(b.lo <= 0 && b.hi >= 0, !(b.lo == 0 && b.hi == 0));
}

Bounds of_where(Graph& g, Ref u) {
  const Bounds c = bounds(g, u->src[0]);
  if (c.lo == 1 || u->src[2]->op == Op::Invalid) return bounds(g, u->src[1]);
  if (c.hi == 0 || u->src[1]->op == Op::Invalid) return bounds(g, u->src[2]);
  return join(bounds(g, u->src[1]), bounds(g, u->src[2]));
}

Bounds bool_bounds(Graph& g, Ref u) {
  const Bounds a = bounds(g, u->src[0]);
  if (u->op == Op::Not) return {1 - a.hi, 1 - a.lo};
  const Bounds b = bounds(g, u->src[1]);
  switch (u->op) {
    case Op::And:
    case Op::Min: return {a.lo & b.lo, a.hi & b.hi};
    case Op::Or:
    case Op::Max: return {a.lo | b.lo, a.hi | b.hi};
    default: return compared(Op::Ne, a, b);  // xor
  }
}

Bounds of_two(Op op, DType t, Bounds a, Bounds b) {
  switch (op) {
    case Op::Add: return at_type(t, clamp(a.lo + b.lo), clamp(a.hi + b.hi));
    case Op::Sub: return at_type(t, clamp(a.lo - b.hi), clamp(a.hi - b.lo));
    case Op::Mul: return product(t, a, b);
    case Op::Div:
    case Op::TDiv: return quotient(op, t, a, b);
    case Op::Mod: return floor_remainder(t, a, b);
    case Op::TMod: return trunc_remainder(t, a, b);
    case Op::Max: return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case Op::Min: return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case Op::And:
    case Op::Or:
    case Op::Xor: return bitwise(op, t, a, b);
    case Op::Shl:
    case Op::Shr: return shifted(op, t, a, b);
    default: return full(t);
  }
}

Bounds of_scalar(Graph& g, Ref u) {
  const DType t = u->dtype;
  switch (u->op) {
    case Op::Where: return of_where(g, u);
    case Op::Cast: return of_cast(g, u);
    case Op::Bitcast: return full(t);
    case Op::Lt:
    case Op::Eq:
    case Op::Ne:
      if (is_float(u->src[0]->dtype)) {
        return compared(u->op, float_bounds(g, u->src[0]), float_bounds(g, u->src[1]));
      }
      return compared(u->op, bounds(g, u->src[0]), bounds(g, u->src[1]));
    default: break;
  }
  if (t == Bool) return bool_bounds(g, u);
  const Bounds a = bounds(g, u->src[0]);
  if (u->op == Op::Neg) return at_type(t, -a.hi, -a.lo);
  if (u->op == Op::Not)
    return t == Index ? at_type(t, -a.hi - 1, -a.lo - 1)
                      : (is_unsigned(t) ? full(t) : Bounds{~a.hi, ~a.lo});
  if (u->src.size() == 2) return of_two(u->op, t, a, bounds(g, u->src[1]));
  return full(t);
}

Bounds of_sources(Graph& g, Ref u) {
  Bounds all = bounds(g, u->src[0]);
  for (const Ref s : u->src.subspan(1)) all = join(all, bounds(g, s));
  return all;
}

Bounds bounds_of(Graph& g, Ref u) {
  if (is_scalar(u->op)) return of_scalar(g, u);
  const DType t = u->dtype;
  switch (u->op) {
    case Op::Const:
    case Op::Variable: return of_leaf(u);
    case Op::Range:
    case Op::Special: {
      const Int128 last = bounds(g, u->src[0]).hi - 1;
      return at_type(t, 0, std::max(last, Int128{0}));
    }
    case Op::Reshape:
    case Op::Expand:
    case Op::Permute:
    case Op::Flip:
    case Op::Shrink:
    case Op::Contiguous:
    case Op::Bind: return bounds(g, u->src[0]);
    case Op::Pad: return join(bounds(g, u->src[0]), {0, 0});
    case Op::Stack:
    case Op::MStack: return u->src.empty() ? full(t) : of_sources(g, u);
    default: return full(t);
  }
}

FloatBounds any_float() { return {-HUGE_VAL, HUGE_VAL, true}; }

FloatBounds float_cast(Graph& g, Ref u) {
  const Ref s = u->src[0];
  // Rounding is monotone, so the rounded ends bound the rounded values; but only where no overflow
  // turns into NaN.
  if (!format_of(u->dtype).has_infinity) return any_float();
  if (is_float(s->dtype)) {
    const FloatBounds f = float_bounds(g, s);
    return {as_double(of_double(u->dtype, f.lo)), as_double(of_double(u->dtype, f.hi)),
            f.may_be_nan};
  }
  const Bounds b = bounds(g, s);
  return {as_double(of_int(u->dtype, b.lo)), as_double(of_int(u->dtype, b.hi)), false};
}

double rounded(Op op, double x) {
  switch (op) {
    case Op::Trunc: return std::trunc(x);
    case Op::Floor: return std::floor(x);
    case Op::Ceil: return std::ceil(x);
    default: return std::nearbyint(x);
  }
}

FloatBounds float_bounds_of(Graph& g, Ref u) {
  const auto source = [&](size_t i) { return float_bounds(g, u->src[i]); };
  switch (u->op) {
    case Op::Const: {
      const double x = as_double(u->value());
      return std::isnan(x) ? any_float() : FloatBounds{x, x, false};
    }
    case Op::Cast: return float_cast(g, u);
    case Op::Where: {
      if (u->src[2]->op == Op::Invalid) return source(1);
      const FloatBounds a = source(1);
      const FloatBounds b = source(2);
      return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), a.may_be_nan || b.may_be_nan};
    }
    case Op::Max:
    case Op::Min: {
      const FloatBounds a = source(0);
      const FloatBounds b = source(1);
      const bool nan = a.may_be_nan || b.may_be_nan;
      if (u->op == Op::Max) return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), nan};
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), nan};
    }
    case Op::Neg: return {-source(0).hi, -source(0).lo, source(0).may_be_nan};
    case Op::Trunc:
    case Op::Floor:
    case Op::Ceil:
    case Op::Round: {
      const FloatBounds a = source(0);
      return {rounded(u->op, a.lo), rounded(u->op, a.hi), a.may_be_nan};
    }
    case Op::Sin:
    case Op::Cos: return {-1, 1, true};
    case Op::Exp:
    case Op::Exp2:
    case Op::Sqrt: return {u->op == Op::Sqrt ? -0.0 : 0.0, HUGE_VAL, true};
    default: return any_float();
  }
}

}  // namespace

Bounds product(DType t, Bounds a, Bounds b) {
  return corners(t, {times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)});
}

Bounds bounds(Graph& g, Ref u) {
  NodeMap<Bounds>& map = g.facts().bounds;
  if (const Bounds* known = map.find(u)) return *known;
  return derive(map, u, [&](Ref v) {
    const bool has_bounds = is_int(v->dtype) || v->dtype == Bool;
    return has_bounds ? bounds_of(g, v) : Bounds{};
  });
}

FloatBounds float_bounds(Graph& g, Ref u) {
  NodeMap<FloatBounds>& map = g.facts().float_bounds;
  if (const FloatBounds* known = map.find(u)) return *known;
  return derive(map, u,
                [&](Ref v) { return is_float(v->dtype) ? float_bounds_of(g, v) : FloatBounds{}; });
}

bool may_be_invalid(Graph& g, Ref u) {
  NodeMap<uint8_t>& map = g.facts().may_be_invalid;
  return derive(map, u, [&](Ref v) -> uint8_t {
           if (v->op == Op::Invalid) return 1;
           if (v->op == Op::Load) return 0;
           for (const Ref s : v->src) {
             if (map.at(s) != 0) return 1;
           }
           return 0;
         }) != 0;
}

}  // namespace assay::uop
