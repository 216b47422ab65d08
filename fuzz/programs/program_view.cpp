#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {
namespace {

using tensor::Op;
using tensor::Slice;

constexpr TypeSet kLaidOut = uop::kFloats | uop::kFixedInts;

// The same elements under another shape of at most four axes.
Dims refactored(ProgramMaker& m, const Dims& shape) {
  static constexpr int64_t kFactors[] = {2, 3, 4, 5, 7};
  int64_t rest = shape.count();
  Dims result;
  if (rest == 0) {
    for (const Dim& d : shape) result.push(d);
    if (m.c.chance(1, 2)) result.push(m.size());
    return result;
  }
  while (rest > 1 && result.rank() < 3) {
    const int64_t f = m.c.chance(1, 5) ? 1 : kFactors[m.c.below(std::size(kFactors))];
    if (rest % f != 0) {
      if (m.c.chance(1, 3)) break;
      continue;
    }
    result.push(f);
    rest /= f;
  }
  if (rest > 1 || m.c.chance(1, 4)) result.push(rest);
  return result;
}

Known* keep_view(ProgramMaker& m, Known* y, const Known& x) {
  m.view_of(y, x);
  settle(*y, x.lo, x.hi);
  y->is_special = x.is_special;
  return y;
}

bool draw_reshape(ProgramMaker& m, Op op) {
  const Known* x = m.any(kAll);
  if (x == nullptr) return false;
  Dims to;
  if (x->shape.is_number()) {
    to = refactored(m, x->shape);
  } else {  // what stays a number of the variables stays where it is: an axis of 1 comes or goes
    to = x->shape;
    if (to.rank() < 5) to.insert(m.c.below(to.rank() + 1), Dim{1, -1});
  }
  keep_view(m, m.add(op, x->dtype, to, {m.of(*x)}), *x);
  return true;
}

bool draw_permute(ProgramMaker& m, Op op) {
  const Known* x = m.find([](const Known& k) { return k.rank() >= 2; });
  if (x == nullptr) x = m.any(kAll);
  if (x == nullptr) return false;
  std::vector<int64_t> order;
  for (size_t i = 0; i < x->rank(); i++) order.push_back(static_cast<int64_t>(i));
  const bool is_reversed = m.c.chance(1, 3);
  if (is_reversed) {
    std::ranges::reverse(order);
  } else {
    for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[m.c.below(i)]);
  }
  Dims to;
  for (const int64_t axis : order) to.push(x->shape[static_cast<size_t>(axis)]);
  keep_view(m, m.add(op, x->dtype, to, {m.of(*x)}), *x);
  if (!is_reversed) m.set("order", std::move(order));
  return true;
}

bool draw_flip(ProgramMaker& m, Op op) {
  const Known* x = m.any(kAll);
  if (x == nullptr || x->rank() == 0) return false;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < x->rank(); i++) {
    if (m.c.chance(1, 2)) axes.push_back(m.written(i, x->rank()));
  }
  if (axes.empty()) axes.push_back(0);
  keep_view(m, m.add(op, x->dtype, x->shape, {m.of(*x)}), *x);
  m.set("axes", std::move(axes));
  return true;
}

// Of an axis of n elements; `to` is the size that is left. By a variable where one suits.
Slice slice_of(ProgramMaker& m, int64_t n, Dim& to, bool& depends) {
  Slice result;
  if (m.has_variable() && m.c.chance(1, 3)) {
    const int32_t v = m.a_variable();
    const auto now = static_cast<int32_t>(m.bound(v));
    if (m.variable(v).hi <= n) {
      depends = true;
      const Dim dim = {now, v};
      if (m.c.chance(1, 2) || m.variable(v).hi == n) {
        result.end = size_of(dim);
        to = dim;
        return result;
      }
      result.begin = size_of(dim);  // one element from n on
      tensor::Size end = size_of(dim);
      end.steps.push_back({tensor::SizeStep::Kind::Number, 1});
      end.steps.push_back({tensor::SizeStep::Kind::Add, 0});
      result.end = end;
      to = Dim{1, -1};
      return result;
    }
  }
  const int64_t begin = m.c.between(0, n);
  const int64_t end = m.c.chance(1, 3) ? n : m.c.between(begin, n);
  const int64_t step = m.c.chance(1, 3) ? m.c.between(2, 4) : 1;
  result.begin = size_of(begin);
  if (end != n || m.c.chance(1, 2)) result.end = size_of(end);
  result.step = size_of(step);
  to = Dim{static_cast<int32_t>((end - begin + step - 1) / step), -1};
  return result;
}

bool draw_slice(ProgramMaker& m, Op op) {
  const Known* x = m.any(kAll);
  if (x == nullptr || x->rank() == 0) return false;
  const size_t named = 1 + m.c.below(x->rank());
  std::vector<Slice> at;
  Dims to = x->shape;
  bool depends = x->depends;
  for (size_t i = 0; i < named; i++) {
    const bool is_whole = x->shape[i].variable >= 0 || m.c.chance(1, 4);
    at.push_back(is_whole ? Slice{} : slice_of(m, x->shape.size(i), to[i], depends));
  }
  Known* y = keep_view(m, m.add(op, x->dtype, to, {m.of(*x)}), *x);
  y->depends = depends;
  m.set("at", std::move(at));
  return true;
}

// Bits are looked at where they are known: of numbers that nobody rounded, and not of NaN.
bool draw_bitcast(ProgramMaker& m, Op op) {
  const Known* x =
      m.find([](const Known& k) { return kLaidOut.has(k.dtype) && k.is_exact && !k.is_special; });
  if (x == nullptr) return false;
  const DType t = m.type_in(kLaidOut);
  Dims to = x->shape;
  const int from_bits = uop::bits_of(x->dtype);
  const int to_bits = uop::bits_of(t);
  if (from_bits != to_bits) {
    if (x->rank() == 0 || to.last().variable >= 0) return false;
    const int64_t bits = int64_t{to.last().now} * from_bits;
    if (bits % to_bits != 0) return false;
    to.pop();
    to.push(bits / to_bits);
    if (!m.fits(to)) return false;
  }
  Known* y = m.add(op, t, to, {m.of(*x)});
  m.view_of(y, *x);
  settle(*y, least_of(t), most_of(t));
  y->is_special = y->is_float() && t != x->dtype;
  return true;
}

bool draw_contiguous(ProgramMaker& m, Op op) {
  const Known* x = m.any(kAll);
  if (x == nullptr) return false;
  Known* y = m.add(op, x->dtype, x->shape, {m.of(*x)});
  settle(*y, x->lo, x->hi);
  y->is_special = x->is_special;
  return true;
}

bool draw_copy(ProgramMaker& m, Op op) {
  if (!m.options.is_stateful || !m.has_room(1)) return false;
  const Known* x = m.any(kAll);
  if (x == nullptr) return false;
  const bool goes_away = m.c.chance(1, 16) ? x->is_away : !x->is_away;
  Known* y = m.add(op, x->dtype, x->shape, {m.of(*x)});
  settle(*y, x->lo, x->hi);
  y->is_special = x->is_special;
  y->is_away = goes_away;
  m.place(goes_away ? "sim:1" : "sim:0");
  return true;
}

constexpr Draw kViewDraws[] = {
    {Op::Reshape, 14, draw_reshape}, {Op::Permute, 12, draw_permute},
    {Op::Flip, 9, draw_flip},        {Op::Slice, 20, draw_slice},
    {Op::Bitcast, 6, draw_bitcast},  {Op::Contiguous, 10, draw_contiguous},
    {Op::Clone, 5, draw_contiguous}, {Op::Copy, 4, draw_copy},
};

}  // namespace

std::span<const Draw> view_draws() { return kViewDraws; }

}  // namespace assay::fuzz
