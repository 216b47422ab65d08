#include <cmath>

#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {
namespace {

using tensor::Literal;
using tensor::Op;

void keep_or_zero(Known* y, const Known& x) {
  settle(*y, std::min(x.lo, 0.0), std::max(x.hi, 0.0));
  y->is_special = x.is_special;
}

// With an axis, and numbers for sizes.
const Known* plain(ProgramMaker& m, TypeSet over) {
  const auto fits = [&](const Known& k) {
    return over.has(k.dtype) && k.rank() > 0 && k.shape.is_number();
  };
  if (const Known* x = m.find(fits)) return x;
  if (!m.has_room(3)) return nullptr;
  const Known* x = m.input(m.type_in(over), m.shape(1, 3));
  return fits(*x) ? x : nullptr;
}

// Positions in an axis of n, now and then outside of it.
const Known* positions(ProgramMaker& m, const Known& x, const Dims& shape, int64_t n) {
  const DType t = m.c.chance(3, 4) ? DType::I32 : m.type_in(uop::kFixedInts);
  const bool goes_out = m.c.chance(1, 5) || n == 0;
  const double least = goes_out && !uop::is_unsigned(t) ? -2 : 0;
  const auto most = static_cast<double>(n) + (goes_out ? 2 : -1);
  return m.input_beside(x, t, shape, least, most);
}

bool draw_gather(ProgramMaker& m, Op op) {
  const Known* x = plain(m, kAll);
  if (x == nullptr) return false;
  const size_t axis = m.axis(*x);
  Dims to;
  for (size_t i = 0; i < x->rank(); i++) {
    const int64_t n = x->shape.size(i);
    to.push(i == axis ? m.c.between(0, 6) : m.c.between(n > 0 ? 1 : 0, n));
  }
  if (!m.fits(to)) return false;
  const Known* i = positions(m, *x, to, x->shape.size(axis));
  if (i == nullptr) return false;
  keep_or_zero(m.add(op, x->dtype, to, {m.of(*x), m.of(*i)}), *x);
  if (axis != 0 || m.c.chance(1, 4)) m.set("axis", m.written(axis, x->rank()));
  return true;
}

bool draw_take(ProgramMaker& m, Op op) {
  const Known* x = plain(m, kAll);
  if (x == nullptr) return false;
  const size_t axis = m.axis(*x);
  const Known* i = m.find([&](const Known& k) {
    return uop::is_fixed_int(k.dtype) && k.is_exact && k.is_away == x->is_away && k.rank() <= 2;
  });
  if (i == nullptr || m.c.chance(1, 2)) i = positions(m, *x, m.shape(0, 2), x->shape.size(axis));
  if (i == nullptr || x->rank() - 1 + i->rank() > 5) return false;
  Dims to;
  for (size_t a = 0; a < x->rank(); a++) {
    if (a != axis) {
      to.push(x->shape[a]);
      continue;
    }
    for (const Dim& d : i->shape) to.push(d);
  }
  if (!m.fits(to)) return false;
  Known* y = m.add(op, x->dtype, to, {m.of(*x), m.of(*i)});
  keep_or_zero(y, *x);
  y->is_exact = x->is_exact;
  if (axis != 0 || m.c.chance(1, 4)) m.set("axis", m.written(axis, x->rank()));
  return true;
}

bool draw_scatter(ProgramMaker& m, Op op) {
  static constexpr std::string_view kReduce[] = {"set", "add", "mul", "max", "min"};
  const Known* x = plain(m, kAll);
  if (x == nullptr || !m.has_room(3)) return false;
  const size_t axis = m.axis(*x);
  Dims shape;
  for (size_t i = 0; i < x->rank(); i++) {
    const int64_t n = x->shape.size(i);
    shape.push(i == axis ? m.c.between(1, 4) : m.c.between(n > 0 ? 1 : 0, n));
  }
  if (!m.fits(shape)) return false;
  uint64_t way = m.c.chance(1, 2) ? 0 : 1 + m.c.below(4);
  if (x->dtype == DType::Bool && (way == 1 || way == 2)) way = 3;
  const auto n = static_cast<double>(shape.size(axis));
  const double most = std::max({1.0, std::fabs(x->lo), std::fabs(x->hi)}) * std::pow(2, n + 1);
  if (way != 0 && x->is_float() && !(most < most_of(x->dtype) / 2)) return false;
  const Known* i = positions(m, *x, shape, x->shape.size(axis));
  const Known* y = m.input_beside(*x, x->dtype, shape, uop::is_unsigned(x->dtype) ? 0 : -2,
                                  x->dtype == DType::Bool ? 1 : 2);
  if (i == nullptr || y == nullptr) return false;
  Known* z = m.add(op, x->dtype, x->shape, {m.of(*x), m.of(*i), m.of(*y)});
  const bool rounds = x->is_float() && (way == 1 || way == 2);
  z->is_exact = x->is_exact && !rounds;
  settle(*z, -most, most);
  z->is_special = x->is_special;
  if (way != 0) m.set("reduce", std::string(kReduce[way]));
  if (axis != 0 || m.c.chance(1, 4)) m.set("axis", m.written(axis, x->rank()));
  return true;
}

bool draw_one_hot(ProgramMaker& m, Op op) {
  const Known* i = m.find([](const Known& k) {
    return uop::is_fixed_int(k.dtype) && k.is_exact && k.rank() <= 3 && k.within(-20, 20);
  });
  if (i == nullptr) {
    if (!m.has_room(2)) return false;
    i = m.input(DType::I32, m.shape(0, 2), -1, 6);
  }
  const int64_t classes = m.c.between(0, 6);
  const size_t axis = m.c.below(i->rank() + 1);
  Dims to = i->shape;
  to.insert(axis, Dim{static_cast<int32_t>(classes), -1});
  if (!m.fits(to)) return false;
  const DType t = m.type_in(uop::kFixedInts);
  Known* y = m.add(op, t, to, {m.of(*i)});
  settle(*y, -4, 9);
  m.set("classes", size_of(classes));
  if (axis != i->rank()) m.set("axis", m.written(axis, to.rank()));
  if (m.c.chance(1, 3)) m.set("on", m.number(t, -4, 9));
  if (m.c.chance(1, 3)) m.set("off", m.number(t, -4, 9));
  return true;
}

// Order is asked of what is exact.
bool draw_order(ProgramMaker& m, Op op) {
  const auto fits = [](const Known& k) {
    return k.is_exact && k.rank() > 0 && k.shape.is_number();
  };
  const Known* x = m.find(fits);
  if (x == nullptr) {
    if (!m.has_room(2)) return false;
    x = m.input(m.type_in(kAll), m.shape(1, 3));
    if (!fits(*x)) return false;
  }
  const size_t axis = m.axis(*x);
  const bool is_top = op == Op::TopK || op == Op::ArgTopK;
  const bool gives_positions = op == Op::ArgSort || op == Op::ArgTopK;
  const int64_t n = x->shape.size(axis);
  const int64_t k = m.c.between(std::min<int64_t>(1, n), n);
  Dims to = x->shape;
  if (is_top) to[axis].now = static_cast<int32_t>(k);
  Known* y = m.add(op, gives_positions ? DType::I32 : x->dtype, to, {m.of(*x)});
  if (gives_positions) {
    settle(*y, 0, static_cast<double>(n));
    y->is_special = false;
  } else {
    settle(*y, x->lo, x->hi);
  }
  if (is_top) m.set("k", size_of(k));
  if (axis + 1 != x->rank() || m.c.chance(1, 4)) m.set("axis", m.written(axis, x->rank()));
  if (m.c.chance(1, 3)) m.set(is_top ? "largest" : "descending", !is_top);
  return true;
}

bool settle_norm(Known* y, double most) {
  y->is_exact = false;
  settle(*y, -most, most);
  return true;
}

// A value to normalize, of some spread.
const Known* spread(ProgramMaker& m, size_t least) {
  const auto fits = [&](const Known& k) {
    return k.is_float() && k.rank() >= least && k.shape.is_number() && k.shape.count() > 0 &&
           k.within(-100, 100) && uop::bits_of(k.dtype) > 8;
  };
  if (const Known* x = m.find(fits)) return x;
  if (!m.has_room(2)) return nullptr;
  const Known* x = m.input(m.type_in(TypeSet{DType::F32, DType::F16, DType::BF16, DType::F64}),
                           m.shape(least, 4));
  return fits(*x) ? x : nullptr;
}

bool draw_last_axis_norm(ProgramMaker& m, Op op) {
  const Known* x = spread(m, 1);
  if (x == nullptr) return false;
  const Dims last = {x->shape.last().now};
  const bool has_weight = m.has_room(3) && m.c.chance(1, 2);
  const Known* w = has_weight ? m.input_beside(*x, x->dtype, last, 0.5, 2) : nullptr;
  std::vector<Operand> operands = {m.of(*x), w != nullptr ? m.of(*w) : m.absent()};
  if (op == Op::LayerNorm) {
    const bool has_bias = w != nullptr && m.has_room(2) && m.c.chance(1, 2);
    const Known* b = has_bias ? m.input_beside(*x, x->dtype, last, -1, 1) : nullptr;
    operands.push_back(b != nullptr ? m.of(*b) : m.absent());
  }
  Known* y = m.add(op, x->dtype, x->shape, operands);
  m.set("axes", std::vector<int64_t>{m.written(x->rank() - 1, x->rank())});
  if (m.c.chance(1, 4)) m.set("eps", Literal{Literal::Kind::Float, 0, 0.001});
  return settle_norm(y, 64);
}

bool draw_group_norm(ProgramMaker& m, Op op) {
  const Known* x = spread(m, 2);
  if (x == nullptr) return false;
  const int64_t c = x->shape.size(1);
  const int64_t groups = c % 2 == 0 && m.c.chance(1, 2) ? 2 : (m.c.chance(1, 2) ? 1 : c);
  const bool has_weight = m.has_room(3) && m.c.chance(1, 2);
  const Known* w = has_weight ? m.input_beside(*x, x->dtype, Dims{c}, 0.5, 2) : nullptr;
  const Known* b = w != nullptr && m.c.chance(1, 2) && m.has_room(2)
                       ? m.input_beside(*x, x->dtype, Dims{c}, -1, 1)
                       : nullptr;
  Known* y =
      m.add(op, x->dtype, x->shape,
            {m.of(*x), w != nullptr ? m.of(*w) : m.absent(), b != nullptr ? m.of(*b) : m.absent()});
  m.set("groups", groups);
  return settle_norm(y, 64);
}

bool draw_batch_norm(ProgramMaker& m, Op op) {
  const Known* x = spread(m, 2);
  if (x == nullptr || !m.has_room(3)) return false;
  const size_t axis = m.c.chance(3, 4) ? 1 : m.axis(*x);
  const Dims c = {x->shape.size(axis)};
  const Known* mean = m.input_beside(*x, x->dtype, c, -1, 1);
  const Known* var = m.input_beside(*x, x->dtype, c, 0.25, 2);
  if (mean == nullptr || var == nullptr) return false;
  const Known* w =
      m.has_room(2) && m.c.chance(1, 2) ? m.input_beside(*x, x->dtype, c, 0.5, 2) : nullptr;
  Known* y =
      m.add(op, x->dtype, x->shape,
            {m.of(*x), m.of(*mean), m.of(*var), w != nullptr ? m.of(*w) : m.absent(), m.absent()});
  if (axis != 1) m.set("axis", m.written(axis, x->rank()));
  return settle_norm(y, 512);
}

constexpr Draw kIndexDraws[] = {
    {Op::Gather, 6, draw_gather},
    {Op::Take, 8, draw_take},
    {Op::Scatter, 6, draw_scatter},
    {Op::OneHot, 4, draw_one_hot},
    {Op::Sort, 4, draw_order},
    {Op::ArgSort, 3, draw_order},
    {Op::TopK, 3, draw_order},
    {Op::ArgTopK, 3, draw_order},
    {Op::LayerNorm, 4, draw_last_axis_norm},
    {Op::RmsNorm, 4, draw_last_axis_norm},
    {Op::GroupNorm, 4, draw_group_norm},
    {Op::BatchNorm, 4, draw_batch_norm},
};

}  // namespace

std::span<const Draw> index_draws() { return kIndexDraws; }

}  // namespace assay::fuzz
