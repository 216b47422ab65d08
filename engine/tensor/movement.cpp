#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"
#include "engine/tensor/nodes.h"
#include "engine/tensor/spatial.h"

namespace assay::tensor {
namespace {

Error wrong_count(const Building& b, std::string_view name, size_t found, int64_t rank) {
  return Error{fmt::format("{} has {} {} of a value of rank {}", b.row().text, found, name, rank)};
}

// Views

Result<Ref> reshape_of(const Building& b) { return reshape(operand(b, 0), written_shape(b)).u; }

Result<Ref> permute_of(const Building& b) {
  const Term x = operand(b, 0);
  Axes order(static_cast<size_t>(x.rank()));
  std::iota(order.rbegin(), order.rend(), int64_t{0});
  if (b.has("order")) {
    ASSAY_TRY(listed, b.listed_axes("order", order.size()));
    if (listed.size() != order.size()) return wrong_count(b, "axes", listed.size(), x.rank());
    order = listed;
  }
  return permute(x, order).u;
}

Result<Ref> flip_of(const Building& b) {
  const Term x = operand(b, 0);
  ASSAY_TRY(axes, b.axes("axes", static_cast<size_t>(x.rank())));
  return flip(x, axes).u;
}

// From begin to end, as a number where it is one: n + 1 - n is 1.
Dim length(Dim begin, Dim end) {
  const uop::Bounds size = uop::dim_difference(*begin.g, end.u, begin.u);
  return size.lo == size.hi ? begin.of(static_cast<int64_t>(size.lo)) : end - begin;
}

Result<Ref> slice(const Building& b) {
  Term x = operand(b, 0);
  const std::vector<Slice>& slices = b.slices("at");
  if (static_cast<int64_t>(slices.size()) > x.rank()) {
    return wrong_count(b, "slices", slices.size(), x.rank());
  }
  for (size_t i = 0; i < slices.size(); i++) {
    const auto axis = static_cast<int64_t>(i);
    const Slice& s = slices[i];
    const Dim n = x.size(axis);
    const Dim begin = {&b.g, b.dim(s.begin)};
    const Dim end = s.end ? Dim{&b.g, b.dim(*s.end)} : n;
    Dim step = {&b.g, b.dim(s.step)};
    if (is_const(step.u)) step = n.of(capped_step(static_cast<int64_t>(step.u->arg.bits), n));
    if (is_at_most(step, n.of(0))) {
      return Error{fmt::format("slice takes steps of {} along axis {}", text_of(step), axis)};
    }
    if (is_beyond(begin, end) || is_beyond(end, n)) {
      return Error{fmt::format("slice takes {} to {} of axis {}, whose size is {}", text_of(begin),
                               text_of(end), axis, text_of(n))};
    }
    if (step.is(1)) {
      x = shrink(x, axis, begin, length(begin, end));
      continue;
    }
    // What follows the end fills the last step where there is as much.
    const Dim count = (length(begin, end) + step - 1) / step;
    x = shrink(x, axis, begin, n - begin);
    x = group_axis(x, axis, count, step);
    x = drop_axis(shrink(x, axis + 1, n.of(0), n.of(1)), axis + 1);
  }
  return x.u;
}

Result<Ref> bitcast_of(const Building& b) {
  const DType from = b.x()->dtype;
  if (from != b.dtype() && (from == uop::Bool || b.dtype() == uop::Bool)) {
    return Error{fmt::format("bitcast of {} to {}: bool has no layout", uop::to_text(from),
                             uop::to_text(b.dtype()))};
  }
  return bitcast(operand(b, 0), b.dtype()).u;
}

// Values of their own

Result<Ref> expand_of(const Building& b) { return expand(operand(b, 0), written_shape(b)).u; }

// What a pad adds before or after an axis that is not constant: a mirror image without the edge,
// the edge, or the other end.
Term added(Term x, int64_t axis, std::string_view mode, Dim amount, bool before) {
  const Dim n = x.size(axis);
  const Dim zero = n.of(0);
  if (mode == "wrap") return shrink(x, axis, before ? n - amount : zero, amount);
  if (mode == "reflect") {
    return flip(shrink(x, axis, before ? n.of(1) : n - amount - 1, amount), {axis});
  }
  return repeat(shrink(x, axis, before ? zero : n - 1, n.of(1)), axis, amount);
}

Result<Ref> pad_of(const Building& b) {
  Term x = operand(b, 0);
  const std::vector<Ref> low = b.dims("low");
  const std::vector<Ref> high = b.dims("high");
  for (const auto* amounts : {&low, &high}) {
    if (static_cast<int64_t>(amounts->size()) == x.rank()) continue;
    return wrong_count(b, "amounts", amounts->size(), x.rank());
  }
  const std::string_view mode = b.word("mode");
  ASSAY_TRY(fill, b.constant("value", x.dtype()));
  for (int64_t axis = 0; axis < x.rank(); axis++) {
    const Dim before = {&b.g, low[static_cast<size_t>(axis)]};
    const Dim after = {&b.g, high[static_cast<size_t>(axis)]};
    if (mode == "constant") {
      x = pad(x, axis, before, after, fill->value());
      continue;
    }
    std::vector<Term> parts = {x};
    if (!before.is(0)) parts.insert(parts.begin(), added(x, axis, mode, before, true));
    if (!after.is(0)) parts.push_back(added(x, axis, mode, after, false));
    x = concatenate(parts, axis);
  }
  return x.u;
}

// All operands have the shape of the first, but along `axis`.
Result<bool> agree(const Building& b, int64_t axis) {
  const Term first = operand(b, 0);
  for (size_t i = 1; i < b.operands.size(); i++) {
    const Term x = operand(b, i);
    bool same = x.rank() == first.rank();
    for (int64_t k = 0; same && k < x.rank(); k++) {
      same = k == axis || may_be_equal(x.size(k), first.size(k));
    }
    if (same) continue;
    return Error{fmt::format("{} of shapes {} and {}", b.row().text, uop::shape_text(first.shape()),
                             uop::shape_text(x.shape()))};
  }
  return true;
}

Result<Ref> stack(const Building& b) {
  const Term first = operand(b, 0);
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(first.rank()) + 1));
  if (const Result<bool> same = agree(b, -1); !same.ok()) return same.error();
  const Term stacked = {&b.g, b.g.make(Fn::Stack, first.dtype(), b.operands)};
  return move_axis(stacked, 0, axis).u;
}

Result<Ref> cat(const Building& b) {
  const Term first = operand(b, 0);
  if (first.rank() == 0) return Error{"cat of scalars, which have no axis"};
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(first.rank())));
  if (const Result<bool> same = agree(b, axis); !same.ok()) return same.error();
  std::vector<Term> parts;
  parts.reserve(b.operands.size());
  for (size_t i = 0; i < b.operands.size(); i++) parts.push_back(operand(b, i));
  return concatenate(parts, axis).u;
}

Result<Ref> roll(const Building& b) {
  Term x = operand(b, 0);
  ASSAY_TRY(axes, b.listed_axes("axes", static_cast<size_t>(x.rank())));
  const std::vector<Ref> shifts = b.dims("shifts");
  if (shifts.size() != axes.size()) {
    return Error{fmt::format("roll has {} shifts for {} axes", shifts.size(), axes.size())};
  }
  for (size_t i = 0; x.rank() > 0 && i < axes.size(); i++) {
    const Dim n = x.size(axes[i]);
    if (n.is(0)) continue;
    const Dim shift = Dim{&b.g, shifts[i]} % largest(n, n.of(1));
    if (shift.is(0)) continue;
    x = shrink(repeat(x, axes[i], n.of(2)), axes[i], n - shift, n);
  }
  return x.u;
}

Result<Ref> repeat_of(const Building& b) {
  Term x = operand(b, 0);
  const std::vector<Ref> times = b.dims("times");
  if (static_cast<int64_t>(times.size()) != x.rank()) {
    return wrong_count(b, "times", times.size(), x.rank());
  }
  for (int64_t axis = 0; axis < x.rank(); axis++) {
    x = repeat(x, axis, {&b.g, times[static_cast<size_t>(axis)]});
  }
  return x.u;
}

Error lacks_axes(const Building& b, int64_t rank) {
  return Error{fmt::format("{} of the last two axes of a value of rank {}", b.row().text, rank)};
}

// A number of rows or columns: farther than any value reaches is far enough, and its sums stay in
// 64 bits.
int64_t within_reach(int64_t rows) {
  constexpr int64_t kFar = int64_t{1} << 61;
  return std::clamp(rows, -kFar, kFar);
}

Result<Ref> diagonal_of(const Building& b) {
  Term x = operand(b, 0);
  const int64_t row = x.rank() - 2;
  if (row < 0) return lacks_axes(b, x.rank());
  const int64_t column = row + 1;
  const int64_t offset = within_reach(b.integer("offset"));
  const Dim zero = x.dim(0);
  const Dim down = least(largest(zero - offset, zero), x.size(row));
  const Dim right = least(largest(zero + offset, zero), x.size(column));
  const Dim n = least(x.size(row) - down, x.size(column) - right);
  return diagonal(shrink(shrink(x, row, down, n), column, right, n)).u;
}

Result<Ref> unfold(const Building& b) {
  const Term x = operand(b, 0);
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(x.rank())));
  if (x.rank() == 0) return Error{"unfold of a scalar, which has no axis"};
  ASSAY_TRY(size, number_of(b, "size", b.size("size"), 0));
  ASSAY_TRY(step, number_of(b, "step", b.size("step")));
  ASSAY_TRY(all, all_windows(b, x, axis, {Window{size, step, 1}}));
  return all.u;
}

template <bool kUpper>
Result<Ref> triangle(const Building& b) {
  const Term x = operand(b, 0);
  if (x.rank() < 2) return lacks_axes(b, x.rank());
  const Dim rows = x.size(x.rank() - 2);
  const Dim columns = x.size(x.rank() - 1);
  const Term row = positions(rows, 0, 2, uop::Index);
  const Term column = positions(columns, 1, 2, uop::Index);
  const Term edge = row + value(row, uop::of_int(uop::Index, within_reach(b.integer("diagonal"))));
  const Term outside = kUpper ? lt(column, edge) : lt(edge, column);
  return where(outside, value(x, uop::zero_of(x.dtype())), x).u;
}

constexpr BuildRow kMovementRows[] = {
    {Op::Reshape, reshape_of}, {Op::Permute, permute_of},  {Op::Flip, flip_of},
    {Op::Slice, slice},        {Op::Bitcast, bitcast_of},  {Op::Expand, expand_of},
    {Op::Pad, pad_of},         {Op::Stack, stack},         {Op::Cat, cat},
    {Op::Roll, roll},          {Op::Repeat, repeat_of},    {Op::Diagonal, diagonal_of},
    {Op::Unfold, unfold},      {Op::Triu, triangle<true>}, {Op::Tril, triangle<false>},
};

}  // namespace

std::span<const BuildRow> movement_builds() { return kMovementRows; }

}  // namespace assay::tensor
