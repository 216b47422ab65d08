#include "engine/codegen/integer_parts.h"

#include <bit>
#include <cmath>

#include "engine/uop/bounds.h"

namespace assay::codegen {
namespace {

using uop::Bounds;
using uop::bounds;
using uop::DType;
using uop::Graph;
using uop::Int128;
using uop::Op;
using uop::Ref;
using uop::U32;
using uop::U64;

bool has(const Bounds& b, Int128 n) { return b.lo <= n && n <= b.hi; }

// y, or 1 where C cannot divide x by y. 1 is right for the least number by -1: the quotient wraps
// to itself, and nothing is left over.
Term safe_divisor(Term x, Term y) {
  const Bounds by = bounds(*x.g, y.u);
  const bool zero = has(by, 0);
  const bool wraps =
      !uop::is_unsigned(x.type()) && has(by, -1) && has(bounds(*x.g, x.u), min_int(x.type()));
  if (!zero && !wraps) return y;
  const Term is_zero = y == 0;
  if (!wraps) return where(is_zero, 1, y);
  const Term least = x == x.integer(static_cast<int64_t>(min_int(x.type())));
  const Term unsafe = (y == -1) & least;
  return where(zero ? is_zero | unsafe : unsafe, 1, y);
}

// floor(x / c) for c > 0: of a negative x, the quotient of -x - 1 is one less in magnitude.
Term floor_quotient(Term x, Term c) {
  const Term sign = x >> (uop::bits_of(x.type()) - 1);
  return (x ^ sign).make(Op::TDiv, {c}) ^ sign;
}

// r is what is left of a quotient that was cut; the floor's is of the sign of y.
Term lies_below(Term r, Term y) {
  const Term differs = (r ^ y) < 0;
  return differs & (r != 0);
}

}  // namespace

bool is_safe_divisor(Graph& g, Ref x, Ref y) {
  if (safe_divisor({&g, x}, {&g, y}).u == y) return true;
  return y->op == Op::Where && safe_divisor({&g, x}, {&g, y->src[2]}).u == y;
}

std::optional<Term> divided_by_constant(Op op, Term x, Term y) {
  if (!uop::is_const(y.u)) return std::nullopt;
  const Int128 c = as_int(y.u->value());
  const bool quotient = op == Op::Div || op == Op::TDiv;
  if (c == 0) return x.integer(0);
  if (c == 1) return quotient ? x : x.integer(0);
  if (c == -1) return quotient ? x.integer(0) - x : x.integer(0);
  const bool negative = bounds(*x.g, x.u).lo < 0;
  const bool floors = op == Op::Div || op == Op::Mod || !negative;
  if (c < 0 || !floors) return std::nullopt;
  if (std::has_single_bit(static_cast<uint64_t>(c))) {
    if (!quotient) return x & x.integer(static_cast<int64_t>(c - 1));
    return x >> std::countr_zero(static_cast<uint64_t>(c));
  }
  if (!negative) return std::nullopt;
  const Term q = floor_quotient(x, y);
  return quotient ? q : x - q * y;
}

Term divided(Op op, Term x, Term y) {
  const Term safe = safe_divisor(x, y);
  if (uop::is_unsigned(x.type()) || op == Op::TDiv || op == Op::TMod) return x.make(op, {safe});
  if (op == Op::Mod) {
    const Term r = x.make(Op::TMod, {safe});
    return r + where(lies_below(r, safe), safe, 0);
  }
  const Term q = x.make(Op::TDiv, {safe});
  const Term r = x - q * safe;
  return q - cast(lies_below(r, safe), x.type());
}

namespace {

// Squares for each bit of the exponent, which is not negative or its lower bits do not matter.
Term by_squares(Term x, Term n, Int128 most) {
  Term power = x;
  Term result = x.integer(1);
  for (int bit = 0; most != 0; bit++, most >>= 1) {
    const Term set = (n & n.integer(int64_t{1} << bit)) != 0;
    result = where(set, bit == 0 ? power : result * power, result);
    if (most > 1) power = power * power;
  }
  return result;
}

Term by_constant(Term x, uint64_t n) {
  std::optional<Term> result;
  Term power = x;
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) result = result ? *result * power : power;
    if (n > 1) power = power * power;
  }
  return result ? *result : x.integer(1);
}

}  // namespace

Term integer_power(Term x, Term n) {
  const Bounds b = bounds(*x.g, n.u);
  if (is_single(b) && b.lo >= 0) return by_constant(x, static_cast<uint64_t>(b.lo));
  const Term power = by_squares(x, n, b.hi < 0 ? 0 : b.hi);
  if (b.lo >= 0) return power;
  // 1 / x^-n, cut: something only of 1 and -1.
  const Term odd = (n & 1) != 0;
  const Term sign = where(odd, x, 1);
  const Term inverse = where(x == -1, sign, 0);
  const Term below = where(x == 1, 1, inverse);
  return where(n < 0, below, power);
}

Term threefry(Term counter, Term key) {
  static constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const Term k0 = cast(key, U32);
  const Term k1 = cast(key >> 32, U32);
  const Term mixed = k0 ^ k1;
  const Term keys[3] = {k0, k1, mixed ^ 0x1BD11BDA};
  Term x0 = cast(counter, U32) + k0;
  Term x1 = cast(counter >> 32, U32) + k1;
  for (int round = 0; round < 20; round++) {
    x0 = x0 + x1;
    const int turn = kRotations[round % 8];
    const Term high = x1 << turn;
    x1 = (high | (x1 >> (32 - turn))) ^ x0;
    if (round % 4 != 3) continue;
    const int s = round / 4 + 1;
    x0 = x0 + keys[s % 3];
    x1 = x1 + keys[(s + 1) % 3] + s;
  }
  const Term upper = cast(x1, U64) << 32;
  return upper | cast(x0, U64);
}

namespace {

// The largest number of x's type that is not above the least integer less one: all that is greater
// is cut to something that t holds.
uop::Value just_below(DType t, DType x) {
  const auto least = static_cast<double>(min_int(t));
  uop::Value v = uop::of_double(x, least - 1);
  if (as_double(v) >= least) v.bits++;
  return v;
}

}  // namespace

Term safe_for_cast(Term x, DType t) {
  const uop::FloatBounds b = uop::float_bounds(*x.g, x.u);
  const auto end = std::ldexp(1.0, uop::bits_of(t) - (uop::is_unsigned(t) ? 0 : 1));
  const uop::Value start = just_below(t, x.type());
  if (!b.may_be_nan && as_double(start) < b.lo && b.hi < end) return x;
  // A type without infinities may have no number as large as an end: then all that are numbers fit.
  const bool has_start = !uop::is_nan(start);
  const bool has_end = !uop::is_nan(uop::of_double(x.type(), end));
  const auto guarded = [&](Term v) {
    const Term above = has_start ? v > as_double(start) : v == v;
    const Term below = has_end ? v < end : v == v;
    return where(above & below, v, 0);
  };
  if (x.u->op == Op::Where && guarded({x.g, x.u->src[1]}).u == x.u) return x;
  return guarded(x);
}

}  // namespace assay::codegen
