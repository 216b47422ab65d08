#include <cmath>

#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {
namespace {

using tensor::Op;

struct Reduced {
  std::vector<int64_t> axes;  // from 0
  Dims shape;                 // of the result
  int64_t count = 1;          // of the elements that each folds
  bool keeps_axes = false;
  bool is_all = false;  // axes are left out
};

Reduced reduced(ProgramMaker& m, const Known& x) {
  Reduced r;
  r.keeps_axes = m.c.chance(1, 3);
  r.is_all = x.rank() == 0 || m.c.chance(1, 4);
  for (size_t i = 0; i < x.rank(); i++) {
    const bool is_named = r.is_all || m.c.chance(1, 2);
    if (is_named) {
      r.axes.push_back(static_cast<int64_t>(i));
      r.count *= x.shape.size(i);
      if (r.keeps_axes) r.shape.push(1);
    } else {
      r.shape.push(x.shape[i]);
    }
  }
  return r;
}

void set_axes(ProgramMaker& m, const Known& x, Reduced r) {
  if (r.keeps_axes) m.set("keep", true);
  if (r.is_all) return;
  for (int64_t& axis : r.axes) axis = m.written(static_cast<size_t>(axis), x.rank());
  m.set("axes", std::move(r.axes));
}

// The type to accumulate in by default.
DType accumulator(DType t) {
  if (uop::is_float(t)) return uop::bits_of(t) < 32 ? DType::F32 : t;
  if (uop::bits_of(t) > 32) return t;
  return uop::kind_of(t) == uop::Kind::Unsigned ? DType::U32 : DType::I32;
}

// Sets the type to accumulate in, rarely, to one no narrower than by default; returns it.
DType draw_accumulator(ProgramMaker& m, DType t) {
  const DType usual = accumulator(t);
  if (!m.c.chance(1, 6)) return usual;
  const bool is_wide = m.c.chance(1, 2);
  DType chosen = usual;
  if (is_wide && usual == DType::F32) chosen = DType::F64;
  if (is_wide && usual == DType::I32) chosen = DType::I64;
  if (is_wide && usual == DType::U32) chosen = DType::U64;
  m.set("acc", chosen);
  return chosen;
}

// How large a float is that a reduction gives; refused where it may overflow.
bool is_too_large(ProgramMaker& m, const Known& x, double most) {
  return x.is_float() && !(most < most_of(x.dtype) / 2) && !m.c.chance(1, 40);
}

bool draw_sum(ProgramMaker& m, Op op) {
  const Known* x = m.any(kAll);
  if (x == nullptr) return false;
  const Reduced r = reduced(m, *x);
  if (!m.fits(r.shape)) return false;
  const auto n = static_cast<double>(std::max<int64_t>(1, r.count));
  const double most = op == Op::Prod ? std::pow(std::max(1.0, largest(*x)), n) : largest(*x) * n;
  if (is_too_large(m, *x, most)) return false;
  Known* y = m.add(op, x->dtype, r.shape, {m.of(*x)});
  const DType acc = draw_accumulator(m, x->dtype);
  if (!x->is_float()) m.retype(y, acc);
  y->is_exact = x->is_exact && !x->is_float();
  settle(*y, op == Op::Sum && x->lo >= 0 ? 0 : -most, op == Op::Prod ? most + 1 : most);
  set_axes(m, *x, r);
  return true;
}

Known add_extreme(ProgramMaker& m, Op op, const Known& x, const Reduced& r) {
  Known* y = m.add(op, x.dtype, r.shape, {m.of(x)});
  settle(*y, x.lo, x.hi);
  if (r.count == 0) settle(*y, -HUGE_VAL, HUGE_VAL);
  set_axes(m, x, r);
  return *y;
}

// Now and then both extremes in one value: a kernel that folds twice.
bool draw_extreme(ProgramMaker& m, Op op) {
  const Known* found = m.any(kAll);
  if (found == nullptr) return false;
  const Known x = *found;
  const Reduced r = reduced(m, x);
  if (!m.fits(r.shape)) return false;
  const Known y = add_extreme(m, op, x, r);
  if (!m.has_room(2) || !m.c.chance(1, 4)) return true;
  const Known z = add_extreme(m, op == Op::Max ? Op::Min : Op::Max, x, r);
  Known* both = m.add(Op::Minimum, x.dtype, r.shape, {m.of(y), m.of(z)});
  settle(*both, z.lo, z.hi);
  return true;
}

bool draw_mean(ProgramMaker& m, Op op) {
  const Known* x = m.any_float();
  if (x == nullptr) return false;
  const Reduced r = reduced(m, *x);
  if (!m.fits(r.shape)) return false;
  const int64_t correction = m.c.below(2) == 0 ? 1 : 0;
  const bool spreads = op != Op::Mean;
  if (spreads && r.count <= correction) return false;
  const double most = spreads ? 4 * largest(*x) * largest(*x) : largest(*x);
  const auto n = static_cast<double>(std::max<int64_t>(1, r.count));
  if (is_too_large(m, *x, most * n)) return false;
  // The deviation of equal numbers is a root at zero.
  if (op == Op::Std && !(x->is_exact && r.count > 2)) return false;
  Known* y = m.add(op, x->dtype, r.shape, {m.of(*x)});
  draw_accumulator(m, x->dtype);
  y->is_exact = false;
  settle(*y, spreads ? 0 : x->lo, spreads ? most : x->hi);
  y->is_special = y->is_special || r.count == 0;
  if (spreads && correction == 0) m.set("correction", int64_t{0});
  set_axes(m, *x, r);
  return true;
}

// Whether something is zero is asked of what is exact.
bool draw_any_all(ProgramMaker& m, Op op) {
  const Known* x = m.find([](const Known& k) { return k.is_exact; });
  if (x == nullptr) return false;
  const Reduced r = reduced(m, *x);
  if (!m.fits(r.shape)) return false;
  Known* y = m.add(op, DType::Bool, r.shape, {m.of(*x)});
  settle(*y, 0, 1);
  y->is_special = false;
  set_axes(m, *x, r);
  return true;
}

bool draw_position(ProgramMaker& m, Op op) {
  const Known* x =
      m.find([](const Known& k) { return k.is_exact && k.shape.count() > 0 && k.rank() > 0; });
  if (x == nullptr) return false;
  const bool is_flat = m.c.chance(1, 4);
  const bool keeps = m.c.chance(1, 3);
  const size_t axis = m.axis(*x);
  Dims to;
  for (size_t i = 0; i < x->rank(); i++) {
    const bool is_named = is_flat || i == axis;
    if (!is_named) to.push(x->shape[i]);
    if (is_named && keeps) to.push(1);
  }
  Known* y = m.add(op, DType::I32, to, {m.of(*x)});
  settle(*y, 0, static_cast<double>(is_flat ? x->shape.count() : x->shape.size(axis)));
  y->is_special = false;
  if (!is_flat) m.set("axis", m.written(axis, x->rank()));
  if (keeps) m.set("keep", true);
  if (m.c.chance(1, 3)) m.set("last", true);
  return true;
}

bool draw_log_sum_exp(ProgramMaker& m, Op op) {
  const Known* x = m.any_float();
  if (x == nullptr || !x->within(-30, 30)) return false;
  const Reduced r = reduced(m, *x);
  if (!m.fits(r.shape)) return false;
  Known* y = m.add(op, x->dtype, r.shape, {m.of(*x)});
  draw_accumulator(m, x->dtype);
  y->is_exact = false;
  settle(*y, x->lo, x->hi + 8);
  y->is_special = r.count == 0;
  set_axes(m, *x, r);
  return true;
}

bool draw_softmax(ProgramMaker& m, Op op) {
  const Known* x = m.find([](const Known& k) {
    return k.is_float() && k.rank() > 0 && (k.within(-30, 30) || (k.is_exact && !k.is_special));
  });
  if (x == nullptr) return false;
  const size_t axis = m.axis(*x);
  Known* y = m.add(op, x->dtype, x->shape, {m.of(*x)});
  y->is_exact = false;
  settle(*y, op == Op::Softmax ? 0 : 2 * x->lo - 2 * x->hi - 8, op == Op::Softmax ? 1 : 0);
  y->is_special = x->shape.size(axis) == 0;
  if (axis + 1 != x->rank() || m.c.chance(1, 4)) m.set("axis", m.written(axis, x->rank()));
  if (m.c.chance(1, 8)) m.set("acc", x->dtype == DType::F64 ? DType::F64 : DType::F32);
  return true;
}

bool draw_scan(ProgramMaker& m, Op op) {
  const Known* x = m.find([](const Known& k) { return k.rank() > 0; });
  if (x == nullptr) return false;
  const size_t axis = m.axis(*x);
  if (x->shape[axis].variable >= 0) return false;
  const auto n = static_cast<double>(std::max<int64_t>(1, x->shape.size(axis)));
  const double most = op == Op::CumProd  ? std::pow(std::max(1.0, largest(*x)), n)
                      : op == Op::CumSum ? largest(*x) * n
                                         : largest(*x);
  if (op != Op::CumMax && is_too_large(m, *x, most)) return false;
  Known* y = m.add(op, x->dtype, x->shape, {m.of(*x)});
  if (op != Op::CumMax) {
    const DType acc = draw_accumulator(m, x->dtype);
    if (!x->is_float()) m.retype(y, acc);
    y->is_exact = x->is_exact && !x->is_float();
  }
  settle(*y, x->lo >= 0 ? 0 : -most, most);
  if (axis != 0 || m.c.chance(1, 4)) m.set("axis", m.written(axis, x->rank()));
  return true;
}

constexpr Draw kReduceDraws[] = {
    {Op::Sum, 20, draw_sum},        {Op::Prod, 5, draw_sum},
    {Op::Max, 10, draw_extreme},    {Op::Min, 6, draw_extreme},
    {Op::Mean, 6, draw_mean},       {Op::Var, 3, draw_mean},
    {Op::Std, 4, draw_mean},        {Op::Any, 4, draw_any_all},
    {Op::All, 4, draw_any_all},     {Op::ArgMax, 5, draw_position},
    {Op::ArgMin, 4, draw_position}, {Op::LogSumExp, 3, draw_log_sum_exp},
    {Op::Softmax, 4, draw_softmax}, {Op::LogSoftmax, 3, draw_softmax},
    {Op::CumSum, 5, draw_scan},     {Op::CumProd, 3, draw_scan},
    {Op::CumMax, 4, draw_scan},
};

}  // namespace

std::span<const Draw> reduce_draws() { return kReduceDraws; }

}  // namespace assay::fuzz
