#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {
namespace {

using tensor::Op;

// What is only moved keeps what is known of it.
void keep(Known* y, const Known& x) {
  settle(*y, x.lo, x.hi);
  y->is_special = x.is_special;
}

// Of at least this rank, all of whose sizes are numbers.
const Known* plain(ProgramMaker& m, size_t least) {
  const auto fits = [&](const Known& k) { return k.rank() >= least && k.shape.is_number(); };
  if (const Known* x = m.find(fits)) return x;
  if (!m.has_room(2)) return nullptr;
  const Known* x = m.input(m.type_in(kAll), m.shape(least, std::max<size_t>(least, 3)));
  return x->shape.is_number() ? x : nullptr;
}

bool draw_expand(ProgramMaker& m, Op op) {
  const Known* x = m.any(kAll);
  if (x == nullptr) return false;
  Dims to = x->shape;
  for (size_t i = 0; i < to.rank(); i++) {
    if (to[i] == Dim{1, -1} && m.c.chance(2, 3)) to[i] = m.shape(1, 1)[0];
  }
  if (to.rank() < 4 && m.c.chance(1, 2)) to.insert(0, m.shape(1, 1)[0]);
  if (!m.fits(to)) return false;
  keep(m.add(op, x->dtype, to, {m.of(*x)}), *x);
  return true;
}

bool draw_pad(ProgramMaker& m, Op op) {
  static constexpr std::string_view kModes[] = {"constant", "reflect", "edge", "wrap"};
  const Known* x = plain(m, 1);
  if (x == nullptr) return false;
  const uint64_t mode = m.c.chance(2, 3) ? 0 : 1 + m.c.below(3);
  std::vector<int64_t> low;
  std::vector<int64_t> high;
  Dims to;
  for (const Dim& d : x->shape) {
    const int64_t most = mode == 0 || mode == 2 ? 3 : d.now - (mode == 1 ? 1 : 0);
    if (d.now == 0 && mode != 0) return false;
    low.push_back(m.c.chance(1, 2) ? m.c.between(0, std::min<int64_t>(3, most)) : 0);
    high.push_back(m.c.chance(1, 2) ? m.c.between(0, std::min<int64_t>(3, most)) : 0);
    to.push(d.now + low.back() + high.back());
  }
  if (!m.fits(to)) return false;
  Known* y = m.add(op, x->dtype, to, {m.of(*x)});
  keep(y, *x);
  settle(*y, std::min(x->lo, -2.0), std::max(x->hi, 3.0));
  m.set("low", sizes_of(low));
  m.set("high", sizes_of(high));
  if (mode != 0) m.set("mode", std::string(kModes[mode]));
  if (mode == 0 && m.c.chance(1, 3)) m.set("value", m.number(x->dtype, -2, 3));
  return true;
}

// Other values of the same type that agree in all axes but `axis`; in that too for SIZE_MAX.
std::vector<const Known*> beside(ProgramMaker& m, const Known& x, size_t axis) {
  std::vector<const Known*> result = {&x};
  const uint64_t wanted = m.c.below(3);
  for (uint64_t i = 0; i < wanted; i++) {
    const Known* y = m.find([&](const Known& k) {
      if (k.dtype != x.dtype || k.is_away != x.is_away || k.rank() != x.rank()) return false;
      for (size_t a = 0; a < k.rank(); a++) {
        if (a == axis ? k.shape[a].variable >= 0 : k.shape[a] != x.shape[a]) return false;
      }
      return true;
    });
    if (y != nullptr) result.push_back(y);
  }
  return result;
}

// The result lies where its parts do.
void keep_parts(Known* y, const std::vector<const Known*>& parts) {
  double lo = parts[0]->lo;
  double hi = parts[0]->hi;
  for (const Known* x : parts) {
    lo = std::min(lo, x->lo);
    hi = std::max(hi, x->hi);
  }
  settle(*y, lo, hi);
}

bool draw_stack(ProgramMaker& m, Op op) {
  const Known* x = m.any(kAll);
  if (x == nullptr || x->rank() > 4) return false;
  const auto parts = beside(m, *x, SIZE_MAX);
  Dims to = x->shape;
  const size_t axis = m.c.below(to.rank() + 1);
  to.insert(axis, Dim{static_cast<int32_t>(parts.size()), -1});
  if (!m.fits(to)) return false;
  std::vector<Operand> operands;
  for (const Known* k : parts) operands.push_back(m.of(*k));
  keep_parts(m.add(op, x->dtype, to, operands), parts);
  m.set("axis", m.written(axis, to.rank()));
  return true;
}

bool draw_cat(ProgramMaker& m, Op op) {
  const Known* x = m.any(kAll);
  if (x == nullptr || x->rank() == 0) return false;
  const size_t axis = m.axis(*x);
  if (x->shape[axis].variable >= 0) return false;
  const auto parts = beside(m, *x, axis);
  Dims to = x->shape;
  to[axis].now = 0;
  std::vector<Operand> operands;
  for (const Known* k : parts) {
    to[axis].now += k->shape[axis].now;
    operands.push_back(m.of(*k));
  }
  if (!m.fits(to)) return false;
  keep_parts(m.add(op, x->dtype, to, operands), parts);
  m.set("axis", m.written(axis, to.rank()));
  return true;
}

bool draw_roll(ProgramMaker& m, Op op) {
  const Known* x = plain(m, 1);
  if (x == nullptr) return false;
  std::vector<int64_t> shifts;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < x->rank(); i++) {
    if (!m.c.chance(1, 2) && !(axes.empty() && i + 1 == x->rank())) continue;
    axes.push_back(m.written(i, x->rank()));
    shifts.push_back(m.c.between(-4, 6));
  }
  keep(m.add(op, x->dtype, x->shape, {m.of(*x)}), *x);
  m.set("shifts", sizes_of(shifts));
  m.set("axes", std::move(axes));
  return true;
}

bool draw_repeat(ProgramMaker& m, Op op) {
  const Known* x = plain(m, 1);
  if (x == nullptr) return false;
  std::vector<int64_t> times;
  Dims to;
  for (const Dim& d : x->shape) {
    times.push_back(m.c.chance(1, 2) ? 1 : m.c.between(1, 3));
    to.push(d.now * times.back());
  }
  if (!m.fits(to)) return false;
  keep(m.add(op, x->dtype, to, {m.of(*x)}), *x);
  m.set("times", sizes_of(times));
  return true;
}

bool draw_diagonal(ProgramMaker& m, Op op) {
  const Known* x = plain(m, 2);
  if (x == nullptr) return false;
  Dims to = x->shape;
  const int64_t columns = to.last().now;
  to.pop();
  const int64_t rows = to.last().now;
  to.pop();
  if (rows == 0 || columns == 0) return false;
  const int64_t offset = m.c.chance(1, 2) ? 0 : m.c.between(1 - rows, columns - 1);
  to.push(offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns));
  keep(m.add(op, x->dtype, to, {m.of(*x)}), *x);
  m.set("offset", offset);
  return true;
}

bool draw_unfold(ProgramMaker& m, Op op) {
  const Known* x = plain(m, 1);
  if (x == nullptr || x->rank() > 4) return false;
  const size_t axis = m.axis(*x);
  const int64_t n = x->shape.size(axis);
  if (n == 0) return false;
  const int64_t size = m.c.between(1, n);
  const int64_t step = m.c.between(1, 3);
  Dims to = x->shape;
  to[axis].now = static_cast<int32_t>((n - size) / step + 1);
  to.push(size);
  if (!m.fits(to)) return false;
  keep(m.add(op, x->dtype, to, {m.of(*x)}), *x);
  m.set("axis", m.written(axis, x->rank()));
  m.set("size", size_of(size));
  m.set("step", size_of(step));
  return true;
}

bool draw_triangle(ProgramMaker& m, Op op) {
  const Known* x = plain(m, 2);
  if (x == nullptr) return false;
  Known* y = m.add(op, x->dtype, x->shape, {m.of(*x)});
  keep(y, *x);
  settle(*y, std::min(x->lo, 0.0), std::max(x->hi, 0.0));
  m.set("diagonal", m.c.between(-2, 2));
  return true;
}

constexpr Draw kMoveDraws[] = {
    {Op::Expand, 12, draw_expand},    {Op::Pad, 12, draw_pad},      {Op::Stack, 7, draw_stack},
    {Op::Cat, 9, draw_cat},           {Op::Roll, 4, draw_roll},     {Op::Repeat, 4, draw_repeat},
    {Op::Diagonal, 4, draw_diagonal}, {Op::Unfold, 4, draw_unfold}, {Op::Triu, 3, draw_triangle},
    {Op::Tril, 3, draw_triangle},
};

}  // namespace

std::span<const Draw> move_draws() { return kMoveDraws; }

}  // namespace assay::fuzz
