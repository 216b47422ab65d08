#include "engine/tensor/nodes.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/check.h"

namespace assay::tensor {
namespace {

bool is_zero(Dim d) { return d.is(0); }

Axes counting(int64_t rank) {
  Axes axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

// Amounts of a pad or shrink for each axis, all but one left as they are.
Dims amounts(Term x, int64_t axis, Dim first, Dim second, bool is_pad) {
  const Dim zero = x.dim(0);
  Dims pairs;
  for (int64_t i = 0; i < x.rank(); i++) {
    const Dim rest = is_pad ? zero : x.size(i);
    pairs.push_back(i == axis ? first.u : zero.u);
    pairs.push_back(i == axis ? second.u : rest.u);
  }
  return pairs;
}

// The factor by which windows of an axis of n elements lengthen its rows, and how often the axis is
// repeated for that: numbers that suffice for all values of the variables.
struct Rows {
  int64_t times = 1;
  int64_t repeats = 1;
};
Rows rows_of(Dim n, const Window& w) {
  // There may be no windows where one element is missing.
  const uop::Int128 low = std::max<uop::Int128>(uop::bounds(*n.g, n.u).lo, w.extent() - 1);
  const auto least_size = static_cast<int64_t>(low);
  const auto above = [&](int64_t a) { return (a + least_size - 1) / least_size; };
  Rows rows;
  rows.times += above(std::max<int64_t>(0, w.stride - 1 - w.dilation * w.size));
  rows.repeats = w.size * rows.times + above(w.size * w.dilation);
  return rows;
}

// Windows that overlap or have holes. Row j of [size, n * times + dilation] of the repeated axis
// holds at place t element (j * dilation + t) % n; windows begin at each stride-th place, where no
// element that they take lies past the end.
Term overlapping(Term x, int64_t axis, Dim count, const Window& w) {
  const Dim n = x.size(axis);
  const Rows rows = rows_of(n, w);
  const Dim length = n * rows.times + w.dilation;
  const Dim elements = x.dim(w.size);
  const Dim stride = x.dim(w.stride);
  x = repeat(x, axis, x.dim(rows.repeats));
  x = shrink(x, axis, x.dim(0), length * elements);
  x = split_axis(x, axis, {elements.u, length.u});
  x = shrink(x, axis + 1, x.dim(0), count * stride);
  x = split_axis(x, axis + 1, {count.u, stride.u});
  x = drop_axis(shrink(x, axis + 2, x.dim(0), x.dim(1)), axis + 2);
  return move_axis(x, axis, x.rank() - 1);
}

}  // namespace

Dim operator%(Dim a, Dim b) {
  if (is_const(a.u) && is_const(b.u)) return a - a / b * b;
  return {a.g, a.g->alu(Fn::Mod, {a.u, b.u})};
}

bool is_at_most(Dim a, Dim b) { return uop::dim_difference(*a.g, a.u, b.u).hi <= 0; }
bool is_beyond(Dim a, Dim b) { return uop::dim_difference(*a.g, a.u, b.u).lo > 0; }
bool may_be_equal(Dim a, Dim b) { return uop::may_equal(*a.g, a.u, b.u); }

int64_t capped_step(int64_t step, Dim n) {
  // A window of no elements may begin at the end itself, so a step to there is not past it.
  const uop::Int128 most = uop::bounds(*n.g, n.u).hi + 1;
  return step <= most ? step : static_cast<int64_t>(most);
}

bool may_broadcast(Dim a, Dim b) {
  return uop::may_be(uop::bounds(*a.g, a.u), 1) || may_be_equal(a, b);
}

std::string text_of(Dim d) {
  const std::string text = uop::shape_text({&d.u, 1});
  return text.substr(1, text.size() - 2);
}

Dim least(Dim a, Dim b) {
  if (is_at_most(a, b)) return a;
  if (is_at_most(b, a)) return b;
  return {a.g, a.g->alu(Fn::Min, {a.u, b.u})};
}

Dim largest(Dim a, Dim b) {
  if (is_at_most(a, b)) return b;
  if (is_at_most(b, a)) return a;
  return {a.g, a.g->alu(Fn::Max, {a.u, b.u})};
}

Term le(Term x, Term y) {
  if (!uop::is_float(x.dtype())) return negation(lt(y, x));
  return either(lt(x, y), eq(x, y));
}

Term where(Term c, Term x, Term y) {
  return {x.g, x.g->make(Fn::Where, x.dtype(), {c.u, x.u, y.u})};
}

Term computed_once(Term x) {
  constexpr uop::OpSet kStored = {Fn::Buffer, Fn::Param,      Fn::After,
                                  Fn::Const,  Fn::Contiguous, Fn::Copy};
  if (!uop::is_float(x.dtype())) return x;
  Ref u = x.u;
  while (uop::is_movement(u->op) || u->op == Fn::Bitcast) u = u->src[0];
  if (kStored.has(u->op)) return x;
  return {x.g, x.g->make(Fn::Contiguous, x.dtype(), {x.u})};
}

Term cast(Term x, DType t) {
  if (x.dtype() == t) return x;
  return {x.g, x.g->make(Fn::Cast, t, {x.u})};
}

Term bitcast(Term x, DType t) {
  if (x.dtype() == t) return x;
  return {x.g, x.g->make(Fn::Bitcast, t, {x.u})};
}

Term value(Term x, uop::Value v) { return {x.g, x.g->constant(v)}; }

Term number(Term x, double n) {
  const DType t = x.dtype();
  return value(
      x, uop::is_float(t) ? uop::of_double(t, n) : uop::of_int(t, static_cast<uop::Int128>(n)));
}

Term to_bits(Term x) {
  return uop::is_float(x.dtype()) ? bitcast(x, uop::unsigned_of(x.dtype())) : x;
}
Term from_bits(Term bits, DType t) { return uop::is_float(t) ? bitcast(bits, t) : bits; }

Term reshape(Term x, const Dims& dims) {
  if (uop::intern_shape(*x.g, dims).data() == x.shape().data() &&
      static_cast<int64_t>(dims.size()) == x.rank()) {
    return x;
  }
  return {x.g, uop::reshape(*x.g, x.u, dims)};
}

Term expand(Term x, const Dims& dims) {
  if (std::ranges::equal(x.shape(), dims)) return x;
  return {x.g, uop::expand(*x.g, x.u, dims)};
}

Term permute(Term x, const Axes& order) {
  if (order == counting(x.rank())) return x;
  return {x.g, uop::permute(*x.g, x.u, order)};
}

Term flip(Term x, const Axes& axes) {
  if (axes.empty()) return x;
  return {x.g, uop::flip(*x.g, x.u, axes)};
}

Term move_axis(Term x, int64_t from, int64_t to) {
  Axes order = counting(x.rank());
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return permute(x, order);
}

Term insert_axis(Term x, int64_t axis) {
  Dims dims = dims_of(x);
  dims.insert(dims.begin() + axis, x.dim(1).u);
  return reshape(x, dims);
}

Term drop_axis(Term x, int64_t axis) {
  Dims dims = dims_of(x);
  dims.erase(dims.begin() + axis);
  return reshape(x, dims);
}

Term join_axes(Term x, int64_t axis, int64_t count) {
  Dims dims = dims_of(x);
  const auto first = dims.begin() + axis;
  Dim all = x.dim(1);
  for (int64_t i = 0; i < count; i++) all = all * x.size(axis + i);
  const auto place = dims.erase(first, first + count);
  dims.insert(place, all.u);
  return reshape(x, dims);
}

Term split_axis(Term x, int64_t axis, const Dims& parts) {
  Dims dims = dims_of(x);
  const auto place = dims.erase(dims.begin() + axis);
  dims.insert(place, parts.begin(), parts.end());
  return reshape(x, dims);
}

Term shrink(Term x, int64_t axis, Dim begin, Dim size) {
  if (is_zero(begin) && size.u == x.size(axis).u) return x;
  return {x.g, uop::shrink(*x.g, x.u, amounts(x, axis, begin, size, false))};
}

Term pad(Term x, int64_t axis, Dim low, Dim high) {
  if (is_zero(low) && is_zero(high)) return x;
  return {x.g, uop::pad(*x.g, x.u, amounts(x, axis, low, high, true))};
}

Term pad(Term x, int64_t axis, Dim low, Dim high, uop::Value fill) {
  if (fill.bits == 0 || (is_zero(low) && is_zero(high))) return pad(x, axis, low, high);
  Dims dims(static_cast<size_t>(x.rank()), x.dim(1).u);
  dims[static_cast<size_t>(axis)] = x.size(axis).u;
  const Term inside = pad(full(x, uop::of_bool(true), dims), axis, low, high);
  return where(inside, pad(x, axis, low, high), value(x, fill));
}

Term pad_or_cut(Term x, int64_t axis, Dim low, Dim high) {
  const Dim zero = x.dim(0);
  const Dim cut_low = largest(zero - low, zero);
  const Dim cut_high = largest(zero - high, zero);
  // What is cut on one side may be what is added on the other.
  x = pad(x, axis, largest(low, zero), largest(high, zero));
  return shrink(x, axis, cut_low, x.size(axis) - cut_low - cut_high);
}

Term group_axis(Term x, int64_t axis, Dim count, Dim step) {
  const Dim all = count * step;
  const Dim n = x.size(axis);
  if (!is_at_most(all, n)) {
    // Of an amount that depends on variables less than step is needed, and the rest is cut off.
    const Dim more = all - n;
    x = pad(x, axis, x.dim(0), is_const(more.u) ? more : step);
  }
  x = shrink(x, axis, x.dim(0), all);
  return split_axis(x, axis, {count.u, step.u});
}

Term repeat(Term x, int64_t axis, Dim times) {
  if (times.is(1)) return x;
  const Dim n = x.size(axis);
  x = insert_axis(x, axis);
  Dims dims = dims_of(x);
  dims[static_cast<size_t>(axis)] = times.u;
  x = expand(x, dims);
  return split_axis(join_axes(x, axis, 2), axis, {(n * times).u});
}

// In rows of one element more than the square has, the diagonal is the first column.
Term diagonal(Term x) {
  const int64_t row = x.rank() - 2;
  const Dim n = x.size(row);
  const Dim zero = n.of(0);
  x = pad(join_axes(x, row, 2), row, zero, n);
  x = split_axis(x, row, {n.u, (n + 1).u});
  return drop_axis(shrink(x, row + 1, zero, n.of(1)), row + 1);
}

Term windows(Term x, int64_t axis, const Window& window) {
  const Dim n = x.size(axis);
  Window w = window;
  w.stride = capped_step(w.stride, n);
  const Dim count = (n - w.extent()) / w.stride + 1;
  if (w.size > 1 && (w.dilation != 1 || w.size > w.stride)) {
    return overlapping(x, axis, count, w);
  }
  x = group_axis(x, axis, count, x.dim(w.stride));
  x = shrink(x, axis + 1, x.dim(0), x.dim(w.size));
  return move_axis(x, axis + 1, x.rank() - 1);
}

Term concatenate(std::vector<Term> parts, int64_t axis) {
  const Term first = parts[0];
  std::erase_if(parts, [&](Term x) { return x.size(axis).is(0); });
  if (parts.empty()) return first;
  if (parts.size() == 1) return parts[0];
  std::vector<Dim> begins;
  begins.reserve(parts.size());
  Dim all = first.dim(0);
  for (const Term x : parts) {
    begins.push_back(all);
    all = all + x.size(axis);
  }
  for (size_t i = 0; i < parts.size(); i++) {
    const Dim size = parts[i].size(axis);
    parts[i] = pad(parts[i], axis, begins[i], all - begins[i] - size);
  }
  // Neighbours are joined in pairs, so that a position is looked up in steps of their logarithm.
  const Term at = positions(all, axis, first.rank(), uop::Index);
  while (parts.size() > 1) {
    size_t kept = 0;
    for (size_t i = 0; i < parts.size(); i += 2, kept++) {
      parts[kept] = parts[i];
      begins[kept] = begins[i];
      if (i + 1 == parts.size()) continue;
      const Term is_left = lt(at, {at.g, begins[i + 1].u});
      parts[kept] = where(is_left, parts[i], parts[i + 1]);
    }
    parts.resize(kept);
    begins.resize(kept);
  }
  return parts[0];
}

Term full(Term like, uop::Value v, const Dims& dims) { return expand(value(like, v), dims); }

Term positions(Dim n, int64_t axis, int64_t rank, DType t) {
  Graph& g = *n.g;
  Dims dims(static_cast<size_t>(rank), n.of(1).u);
  dims[static_cast<size_t>(axis)] = n.u;
  if (n.is(0)) return full({&g, n.u}, uop::zero_of(t), dims);
  const Ref range = g.make(Fn::Range, uop::Index, {n.u}, uop::Arg::axis(0, uop::AxisType::Weak));
  const uop::Arg place = uop::Arg::place(0, uop::AddrSpace::Global);
  const Term counted = {&g, g.make(Fn::Stage, uop::Index, {range, range}, place)};
  return reshape(cast(counted, t), dims);
}

Term reduce(Fn f, Term x, const Axes& axes, bool keep) {
  if (axes.empty()) return x;
  Dims dims = dims_of(x);
  Axes order = axes;
  for (const int64_t axis : axes) dims[static_cast<size_t>(axis)] = nullptr;
  for (int64_t i = 0; i < x.rank(); i++) {
    if (dims[static_cast<size_t>(i)] != nullptr) order.push_back(i);
  }
  const uop::Arg fold = uop::Arg::fold(f, static_cast<int32_t>(axes.size()));
  const Term folded = {x.g, x.g->make(Fn::Reduce, x.dtype(), {permute(x, order).u}, fold)};
  if (!keep) return folded;
  std::ranges::replace(dims, nullptr, x.dim(1).u);
  return reshape(folded, dims);
}

Term pick(Term mask, Term x) {
  const Term bits = to_bits(x);
  const bool is_bool = x.dtype() == uop::Bool;
  const Term picked = where(mask, bits, value(bits, uop::zero_of(bits.dtype())));
  return from_bits(reduce(is_bool ? Fn::Or : Fn::Add, picked, {0}), x.dtype());
}

}  // namespace assay::tensor
