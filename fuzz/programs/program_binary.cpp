#include <cmath>

#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {
namespace {

using tensor::Literal;
using tensor::Op;

// The second operand of an op, and what it makes of the first: the type and shape of the result.
struct Pair {
  Operand x, y;
  DType dtype;  // both are promoted to it
  Dims shape;
  double lo, hi;  // of y
  bool is_exact;  // both are
  bool is_special;
  bool is_y_apart;  // y is not zero
};

// A shape that broadcasts to the given one: some axes of size 1, some leading ones left out.
Dims thinned(ProgramMaker& m, const Dims& shape) {
  Dims result;
  const uint64_t left_out = m.c.chance(1, 3) ? m.c.below(shape.rank() + 1) : 0;
  for (size_t i = left_out; i < shape.rank(); i++) {
    result.push(m.c.chance(1, 3) ? Dim{1, -1} : shape[i]);
  }
  return result;
}

// A value that broadcasts with x. Of the same type mostly.
const Known* partner(ProgramMaker& m, const Known& x, TypeSet over) {
  Dims joined;
  const bool same_type = m.c.chance(7, 8);
  const auto fits = [&](const Known& k) {
    if (k.is_away != x.is_away || !over.has(k.dtype)) return false;
    if (same_type && k.dtype != x.dtype) return false;
    return broadcast(x.shape, k.shape, joined) && m.fits(joined);
  };
  if (const Known* y = m.find(fits)) return y;
  if (!m.has_room(2) || m.c.chance(1, 3)) return nullptr;
  const DType t = same_type ? x.dtype : m.type_in(over);
  if (uop::is_fixed_int(t) && m.seeks_edges()) return m.extremes_beside(x, t, thinned(m, x.shape));
  return m.input_beside(x, t, thinned(m, x.shape), uop::is_unsigned(t) ? 0 : -4,
                        t == DType::Bool ? 1 : 4);
}

// A literal or a value, at worst x itself; false where they do not join. `least` and `most` bound a
// literal.
bool complete(ProgramMaker& m, const Known& x, TypeSet over, double least, double most,
              uint64_t literals_in_8, Pair& p) {
  p.x = m.of(x);
  p.is_exact = x.is_exact;
  p.is_special = x.is_special;
  if (m.c.chance(literals_in_8, 8)) {
    const bool joins_at_f32 = !x.is_float() && over.has(DType::F32) && m.c.chance(1, 12);
    p.dtype = joins_at_f32 ? DType::F32 : x.dtype;
    Literal l = m.number(p.dtype, least, most);
    if (joins_at_f32)
      l = {Literal::Kind::Float, 0,
           l.kind == Literal::Kind::Float ? l.real : static_cast<double>(l.integer)};
    p.y = m.of(l);
    p.shape = x.shape;
    p.lo = p.hi = l.kind == Literal::Kind::Float ? l.real : static_cast<double>(l.integer);
    p.is_y_apart = p.lo != 0;
    return true;
  }
  const Known* y = partner(m, x, over);
  if (y == nullptr) y = &x;
  const auto joined = uop::promote(x.dtype, y->dtype);
  if (!joined || !over.has(*joined) || !broadcast(x.shape, y->shape, p.shape)) return false;
  p.y = m.of(*y);
  p.dtype = *joined;
  p.lo = y->lo;
  p.hi = y->hi;
  p.is_exact = p.is_exact && y->is_exact;
  p.is_special = p.is_special || y->is_special;
  p.is_y_apart = y->apart_from_zero();
  return true;
}

// What a result that may overflow or jump is made of: mostly refused where it is not exact.
bool accept_ends(ProgramMaker& m, const Pair& p, double lo, double hi) {
  if (!uop::is_float(p.dtype)) return true;
  const double most = most_of(p.dtype) / 2;
  return (-most <= lo && hi <= most) || m.c.chance(1, 40);
}

bool arithmetic_ends(Op op, const Known& x, const Pair& p, double& lo, double& hi) {
  if (op == Op::Add) {
    lo = x.lo + p.lo;
    hi = x.hi + p.hi;
  } else if (op == Op::Sub) {
    lo = x.lo - p.hi;
    hi = x.hi - p.lo;
  } else {
    const double ends[] = {x.lo * p.lo, x.lo * p.hi, x.hi * p.lo, x.hi * p.hi};
    lo = std::ranges::min(ends);
    hi = std::ranges::max(ends);
  }
  return !std::isnan(lo) && !std::isnan(hi);
}

bool draw_arithmetic(ProgramMaker& m, Op op) {
  const Known* x = m.any(kPlain);
  Pair p;
  if (x == nullptr || !complete(m, *x, kPlain, -8, 9, 2, p)) return false;
  double lo = 0;
  double hi = 0;
  if (!arithmetic_ends(op, *x, p, lo, hi) || !accept_ends(m, p, lo, hi)) return false;
  const bool is_swapped = m.c.chance(1, 4) && op != Op::Sub;
  Known* y = is_swapped ? m.add(op, p.dtype, p.shape, {p.y, p.x})
                        : m.add(op, p.dtype, p.shape, {p.x, p.y});
  y->is_exact = p.is_exact && !y->is_float();
  settle(*y, lo, hi);
  return true;
}

bool draw_div(ProgramMaker& m, Op op) {
  const Known* x = m.any_float();
  Pair p;
  if (x == nullptr || !complete(m, *x, uop::kFloats, 0.25, 9, 3, p)) return false;
  if (!p.is_y_apart && !(p.is_exact && m.c.chance(1, 4))) return false;
  if (op == Op::FMod && !(p.is_exact && p.is_y_apart && !p.is_special)) return false;
  const double most = std::max(std::fabs(x->lo), std::fabs(x->hi)) * (p.is_y_apart ? 1e3 : 1e9);
  Known* y = m.add(op, p.dtype, p.shape, {p.x, p.y});
  y->is_exact = false;
  settle(*y, -most, most);
  y->is_special = p.is_special || !p.is_y_apart;
  return true;
}

// Divisors are numbers or values without zero, but for a few.
bool draw_int_div(ProgramMaker& m, Op op) {
  const Known* x = m.any(uop::kFixedInts);
  Pair p;
  if (x == nullptr || !complete(m, *x, uop::kFixedInts, 1, 9, 6, p)) return false;
  if (p.y.is_literal() && !uop::is_unsigned(p.dtype) && m.c.chance(1, 3)) {
    p.y.literal.integer = -p.y.literal.integer;
  }
  if (!p.is_y_apart && !m.c.chance(1, 64)) return false;
  Known* y = m.add(op, p.dtype, p.shape, {p.x, p.y});
  if (!p.is_y_apart) y->is_gone = !m.c.chance(1, 4);
  settle(*y, least_of(p.dtype), most_of(p.dtype));
  return true;
}

bool draw_min_max(ProgramMaker& m, Op op) {
  const Known* x = m.any(kPlain | uop::kBool);
  Pair p;
  if (x == nullptr || !complete(m, *x, kPlain | uop::kBool, -8, 9, 2, p)) return false;
  Known* y = m.add(op, p.dtype, p.shape, {p.x, p.y});
  y->is_exact = p.is_exact;
  settle(*y, std::min(x->lo, p.lo), std::max(x->hi, p.hi));
  return true;
}

bool draw_pow(ProgramMaker& m, Op op) {
  static constexpr double kExponents[] = {2, 3, 0.5, -1, 0, 1, 1.5, -2};
  const Known* x = m.any(kPlain);
  if (x == nullptr) return false;
  const bool is_plain = x->within(0.05, 20);
  const bool is_whole = !x->is_float() || m.c.chance(1, 2);
  if (!x->is_float() || !is_plain) {
    const bool is_safe = !x->is_float() || x->within(-12, 12);
    if (!is_safe && !x->is_exact) return false;
    const int64_t n = m.c.between(0, 3);
    Known* y = m.add(op, x->dtype, x->shape, {m.of(*x), m.of(Literal{Literal::Kind::Int, n, 0})});
    y->is_exact = x->is_exact && !x->is_float();
    const double most = std::pow(std::max(std::fabs(x->lo), std::fabs(x->hi)), n) + 1;
    settle(*y, -most, most);
    return true;
  }
  const double e = kExponents[m.c.below(std::size(kExponents))];
  const Literal l = is_whole && e == std::floor(e)
                        ? Literal{Literal::Kind::Int, static_cast<int64_t>(e), 0}
                        : Literal{Literal::Kind::Float, 0, e};
  Known* y = m.add(op, x->dtype, x->shape, {m.of(*x), m.of(l)});
  y->is_exact = false;
  settle(*y, 0, std::max(std::pow(x->lo, e), std::pow(x->hi, e)) + 1);
  return true;
}

bool draw_copysign(ProgramMaker& m, Op op) {
  const Known* x = m.any_float();
  Pair p;
  if (x == nullptr || !complete(m, *x, uop::kFloats, -2, 2, 3, p) || !p.is_exact) return false;
  const double most = std::max(std::fabs(x->lo), std::fabs(x->hi));
  Known* y = m.add(op, p.dtype, p.shape, {p.x, p.y});
  settle(*y, -most, most);
  return true;
}

bool draw_bits(ProgramMaker& m, Op op) {
  const TypeSet over = uop::kFixedInts | uop::kBool;
  const Known* x = m.any(over);
  Pair p;
  if (x == nullptr || !complete(m, *x, over, 0, 9, 3, p)) return false;
  Known* y = m.add(op, p.dtype, p.shape, {p.x, p.y});
  settle(*y, least_of(p.dtype), most_of(p.dtype));
  return true;
}

bool draw_shift(ProgramMaker& m, Op op) {
  const Known* x = m.any(uop::kFixedInts);
  Pair p;
  if (x == nullptr || !complete(m, *x, uop::kFixedInts, 0, 7, 6, p)) return false;
  if (p.lo < 0 || p.hi >= uop::bits_of(p.dtype)) return false;
  Known* y = m.add(op, p.dtype, p.shape, {p.x, p.y});
  settle(*y, least_of(p.dtype), most_of(p.dtype));
  return true;
}

// Comparisons jump, so what they compare is exact.
bool draw_compare(ProgramMaker& m, Op op) {
  const TypeSet over = kPlain | uop::kBool;
  const Known* x = m.find([&](const Known& k) { return k.is_exact && over.has(k.dtype); });
  if (x == nullptr) x = m.any(over);
  Pair p;
  if (x == nullptr || !complete(m, *x, over, -8, 9, 3, p)) return false;
  if (!p.is_exact && !m.c.chance(1, 100)) return false;
  Known* y = m.add(op, DType::Bool, p.shape, {p.x, p.y});
  settle(*y, 0, 1);
  y->is_special = false;
  y->is_exact = p.is_exact;
  return true;
}

bool draw_where(ProgramMaker& m, Op op) {
  const Known* x = m.any(kPlain | uop::kBool);
  Pair p;
  if (x == nullptr || !complete(m, *x, kPlain | uop::kBool, -8, 9, 2, p)) return false;
  Dims joined;
  const Known* condition = m.find([&](const Known& k) {
    return k.dtype == DType::Bool && k.is_exact && k.is_away == x->is_away &&
           broadcast(p.shape, k.shape, joined) && m.fits(joined);
  });
  if (condition == nullptr) {
    condition = m.input_beside(*x, DType::Bool, thinned(m, p.shape), 0, 1);
    joined = p.shape;
  }
  if (condition == nullptr || !broadcast(p.shape, condition->shape, joined)) return false;
  const bool is_swapped = m.c.chance(1, 3);
  Known* y = m.add(op, p.dtype, joined,
                   {m.of(*condition), is_swapped ? p.y : p.x, is_swapped ? p.x : p.y});
  y->is_exact = p.is_exact && condition->is_exact;
  settle(*y, std::min(x->lo, p.lo), std::max(x->hi, p.hi));
  return true;
}

bool draw_clip(ProgramMaker& m, Op op) {
  const Known* x = m.any(kPlain);
  if (x == nullptr) return false;
  const Literal lo = m.number(x->dtype, -4, 1);
  const Literal hi = m.number(x->dtype, 1, 9);
  const uint64_t way = m.c.below(4);
  Known* y = m.add(op, x->dtype, x->shape,
                   {m.of(*x), way == 0 ? m.absent() : m.of(lo), way == 1 ? m.absent() : m.of(hi)});
  settle(*y, std::min(x->lo, 0.0), std::max(x->hi, 9.0));
  return true;
}

bool draw_lerp(ProgramMaker& m, Op op) {
  const Known* x = m.any_float();
  Pair p;
  if (x == nullptr || !complete(m, *x, uop::kFloats, -2, 2, 1, p)) return false;
  const double most = 4 * (std::max(std::fabs(x->lo), std::fabs(x->hi)) +
                           std::max(std::fabs(p.lo), std::fabs(p.hi)));
  if (!accept_ends(m, p, -most, most)) return false;
  Known* y = m.add(op, p.dtype, p.shape, {p.x, p.y, m.of(m.number(p.dtype, 0, 1))});
  y->is_exact = false;
  settle(*y, -most, most);
  return true;
}

constexpr Draw kBinaryDraws[] = {
    {Op::Add, 34, draw_arithmetic},   {Op::Sub, 18, draw_arithmetic},
    {Op::Mul, 28, draw_arithmetic},   {Op::Div, 8, draw_div},
    {Op::IDiv, 5, draw_int_div},      {Op::Mod, 5, draw_int_div},
    {Op::TDiv, 4, draw_int_div},      {Op::TMod, 4, draw_int_div},
    {Op::FMod, 2, draw_div},          {Op::Maximum, 8, draw_min_max},
    {Op::Minimum, 6, draw_min_max},   {Op::Pow, 5, draw_pow},
    {Op::CopySign, 3, draw_copysign}, {Op::And, 4, draw_bits},
    {Op::Or, 4, draw_bits},           {Op::Xor, 4, draw_bits},
    {Op::Shl, 4, draw_shift},         {Op::Shr, 4, draw_shift},
    {Op::Lt, 6, draw_compare},        {Op::Le, 3, draw_compare},
    {Op::Gt, 3, draw_compare},        {Op::Ge, 3, draw_compare},
    {Op::Eq, 4, draw_compare},        {Op::Ne, 3, draw_compare},
    {Op::Where, 12, draw_where},      {Op::Clip, 5, draw_clip},
    {Op::Lerp, 3, draw_lerp},
};

}  // namespace

std::span<const Draw> binary_draws() { return kBinaryDraws; }

}  // namespace assay::fuzz
