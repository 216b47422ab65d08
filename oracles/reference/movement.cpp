#include <fmt/format.h>

#include <algorithm>

#include "oracles/reference/evaluating.h"
#include "oracles/reference/scalar.h"

namespace assay::reference {
namespace {

using enum tensor::Op;

// The array that these axes of x are, if it is not too large.
Result<Array> view(const Evaluating& e, const Array& x, std::span<const Axis> axes,
                   const Bounded& outside = {}) {
  ASSAY_TRY(elements, count_of(shape_of(axes)));
  ASSAY_TRY(spent, e.spend(elements));
  (void)spent;
  return moved(x, axes, outside);
}

Result<Array> expand(const Evaluating& e) {
  const Dims& from = e.x().shape;
  const Result<Dims> to = broadcast(from, e.shape);
  if (!to.ok() || to.value() != e.shape) {
    return Error{fmt::format("{} does not expand to {}", to_text(from), to_text(e.shape)), 0, 0};
  }
  return view(e, e.x(), expanded(from, e.shape));
}

// An axis of n positions as it is longer by low before and high after.
using Lengthen = Axis (*)(int64_t n, int64_t stride, int64_t low, int64_t high);

Axis by_constant(int64_t n, int64_t stride, int64_t low, int64_t high) {
  Axis axis(static_cast<size_t>(low + n + high), kOutside);
  for (int64_t i = 0; i < n; ++i) axis[static_cast<size_t>(low + i)] = i * stride;
  return axis;
}

Axis by_reflection(int64_t n, int64_t stride, int64_t low, int64_t high) {
  Axis axis;
  for (int64_t i = -low; i < n + high; ++i) {
    const int64_t from = i < 0 ? -i : i;
    axis.push_back((from < n ? from : 2 * (n - 1) - from) * stride);
  }
  return axis;
}

Axis by_edge(int64_t n, int64_t stride, int64_t low, int64_t high) {
  Axis axis;
  for (int64_t i = -low; i < n + high; ++i) {
    axis.push_back(std::clamp(i, int64_t{0}, n - 1) * stride);
  }
  return axis;
}

Axis by_wrapping(int64_t n, int64_t stride, int64_t low, int64_t high) {
  Axis axis;
  for (int64_t i = -low; i < n + high; ++i) axis.push_back((i < 0 ? i + n : i % n) * stride);
  return axis;
}

struct Mode {
  std::string_view name;
  Lengthen lengthen;
  int64_t (*most)(int64_t n);  // how much longer an axis of n can become at one end
};

const Mode& mode(std::string_view name) {
  static constexpr Mode kModes[] = {
      {"constant", by_constant, [](int64_t) { return kMaxElements; }},
      {"reflect", by_reflection, [](int64_t n) { return n == 0 ? 0 : n - 1; }},
      {"edge", by_edge, [](int64_t n) { return n == 0 ? 0 : kMaxElements; }},
      {"wrap", by_wrapping, [](int64_t n) { return n; }},
  };
  return *std::find_if(std::begin(kModes), std::end(kModes),
                       [&](const Mode& m) { return m.name == name; });
}

Result<Array> pad(const Evaluating& e) {
  const Array& x = e.x();
  const size_t rank = x.shape.size();
  ASSAY_TRY(low, e.sizes_or("low", rank, 0));
  ASSAY_TRY(high, e.sizes_or("high", rank, 0));
  ASSAY_TRY(fill, e.number("value", x.dtype));
  const Mode& m = mode(e.word("mode"));
  const Dims strides = strides_of(x.shape);
  Dims to = x.shape;
  for (size_t i = 0; i < rank; ++i) {
    if (std::max(low[i], high[i]) > m.most(to[i])) {
      return Error{fmt::format("axis {} of {} cannot be padded by {} and {} in mode {}", i, to[i],
                               low[i], high[i], m.name),
                   0, 0};
    }
    to[i] += low[i] + high[i];
  }
  ASSAY_TRY(elements, count_of(to));
  if (elements == 0) return Array{x.dtype, to, {}};
  std::vector<Axis> axes;
  for (size_t i = 0; i < rank; ++i) {
    axes.push_back(m.lengthen(x.shape[i], strides[i], low[i], high[i]));
  }
  return view(e, x, axes, fill);
}

// Operands one after the other along an axis, which all of them have.
Result<Array> laid_end_to_end(const Evaluating& e, std::span<const Array* const> parts,
                              size_t axis) {
  Array all{parts[0]->dtype, parts[0]->shape, {}};
  all.shape[axis] = 0;
  for (const Array* part : parts) {
    Dims shape = all.shape;
    if (part->shape.size() == shape.size()) shape[axis] = part->shape[axis];
    if (part->shape != shape) {
      return Error{fmt::format("{} does not stand beside {} along axis {}", to_text(part->shape),
                               to_text(parts[0]->shape), axis),
                   0, 0};
    }
    all.shape[axis] += part->shape[axis];
  }
  ASSAY_TRY(elements, count_of(all.shape));
  ASSAY_TRY(spent, e.spend(elements));
  (void)spent;
  if (elements == 0) return all;
  all.elements.resize(elements);
  int64_t rows = 1;
  for (size_t i = 0; i < axis; ++i) rows *= all.shape[i];
  // What stands together in memory is a column to Eigen.
  using Columns = Eigen::Array<Bounded, Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::Map<Columns> columns(all.elements.data(), elements / rows, rows);
  int64_t done = 0;
  for (const Array* part : parts) {
    const int64_t run = part->elements.size() / rows;
    columns.middleRows(done, run) = Eigen::Map<const Columns>(part->elements.data(), run, rows);
    done += run;
  }
  return all;
}

Result<Array> cat(const Evaluating& e) {
  const size_t rank = e.x().shape.size();
  if (rank == 0) return Error{"a value without axes cannot be joined along one", 0, 0};
  ASSAY_TRY(axis, e.axis("axis", rank));
  return laid_end_to_end(e, e.operands, static_cast<size_t>(axis));
}

Result<Array> stack(const Evaluating& e) {
  ASSAY_TRY(axis, e.axis("axis", e.x().shape.size() + 1));
  std::vector<Array> parts;
  for (const Array* x : e.operands) {
    if (x->shape != e.x().shape) {
      return Error{fmt::format("{} is stacked on {}", to_text(x->shape), to_text(e.x().shape)), 0,
                   0};
    }
    parts.push_back(*x);
    parts.back().shape.insert(parts.back().shape.begin() + axis, 1);
  }
  std::vector<const Array*> ends;
  for (const Array& part : parts) ends.push_back(&part);
  return laid_end_to_end(e, ends, static_cast<size_t>(axis));
}

Result<Array> roll(const Evaluating& e) {
  const Array& x = e.x();
  ASSAY_TRY(rolled, e.axes("axes", x.shape.size()));
  ASSAY_TRY(shifts, e.integers("shifts"));
  const size_t named = std::get<std::vector<int64_t>>(e.attr("axes")).size();
  if (shifts.size() != named) {
    return Error{fmt::format("{} shifts for {} axes", shifts.size(), named), 0, 0};
  }
  std::vector<Axis> axes = axes_of(x.shape);
  for (size_t k = 0; k < rolled.size(); ++k) {
    Axis& axis = axes[static_cast<size_t>(rolled[k])];
    const auto n = static_cast<int64_t>(axis.size());
    if (n == 0) continue;
    const int64_t shift = (shifts[k] % n + n) % n;
    std::rotate(axis.begin(), axis.end() - shift, axis.end());
  }
  return view(e, x, axes);
}

Result<Array> repeat(const Evaluating& e) {
  const Array& x = e.x();
  ASSAY_TRY(times, e.sizes_or("times", x.shape.size(), 1));
  Dims to = x.shape;
  for (size_t i = 0; i < to.size(); ++i) {
    if (times[i] > kMaxElements) return Error{"repeat is too large to evaluate", 0, 0};
    to[i] *= times[i];
  }
  ASSAY_TRY(elements, count_of(to));
  if (elements == 0) return Array{x.dtype, to, {}};
  std::vector<Axis> axes = axes_of(x.shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis once = axes[i];
    axes[i].clear();
    for (int64_t k = 0; k < times[i]; ++k) axes[i].insert(axes[i].end(), once.begin(), once.end());
  }
  return view(e, x, axes);
}

Result<bool> need_rank(const Evaluating& e, size_t least) {
  if (e.x().shape.size() >= least) return true;
  return Error{fmt::format("{} needs {} axes, {} has {}", e.row().text, least, to_text(e.x().shape),
                           e.x().shape.size()),
               0, 0};
}

Result<Array> diagonal(const Evaluating& e) {
  ASSAY_TRY(has_two, need_rank(e, 2));
  (void)has_two;
  const Array& x = e.x();
  const size_t rank = x.shape.size();
  const int64_t rows = x.shape[rank - 2];
  const int64_t columns = x.shape[rank - 1];
  const int64_t offset = e.integer("offset");
  // In this order no sum leaves 64 bits, whatever the offset.
  const int64_t row = offset >= 0 ? 0 : std::min(rows, offset < -rows ? rows : -offset);
  const int64_t column = offset <= 0 ? 0 : std::min(columns, offset);
  const int64_t n = std::min(rows - row, columns - column);
  std::vector<Axis> axes = axes_of(x.shape);
  axes.pop_back();
  axes.back() = steps(n, columns + 1);
  for (int64_t& step : axes.back()) step += row * columns + column;
  return view(e, x, axes);
}

Result<Array> unfold(const Evaluating& e) {
  const Array& x = e.x();
  ASSAY_TRY(one, need_rank(e, 1));
  (void)one;
  ASSAY_TRY(at, e.axis("axis", x.shape.size()));
  ASSAY_TRY(size, e.size("size"));
  ASSAY_TRY(step, e.size("step"));
  const int64_t n = x.shape[static_cast<size_t>(at)];
  if (size > n) return Error{fmt::format("a window of {} in an axis of {}", size, n), 0, 0};
  if (step == 0) return Error{"step is 0", 0, 0};
  const int64_t stride = strides_of(x.shape)[static_cast<size_t>(at)];
  std::vector<Axis> axes = axes_of(x.shape);
  const int64_t windows = (n - size) / step + 1;
  axes[static_cast<size_t>(at)] = windows == 1 ? Axis{0} : steps(windows, step * stride);
  axes.push_back(steps(size, stride));
  return view(e, x, axes);
}

// x where its row and column, with the diagonal added, are as `keeps` asks; else zero.
Result<Array> triangle(const Evaluating& e, bool (*keeps)(int64_t row, int64_t column)) {
  ASSAY_TRY(has_two, need_rank(e, 2));
  (void)has_two;
  Array x = e.x();
  const int64_t rows = x.shape[x.shape.size() - 2];
  const int64_t columns = x.shape.back();
  const int64_t diagonal = std::clamp(e.integer("diagonal"), -kMaxElements - 1, kMaxElements + 1);
  const Bounded zero = of_integer(x.dtype, 0);
  for (int64_t i = 0; i < x.elements.size(); ++i) {
    const int64_t row = i / columns % rows;
    if (!keeps(row + diagonal, i % columns)) x.elements[i] = zero;
  }
  return x;
}

Result<Array> triu(const Evaluating& e) {
  return triangle(e, [](int64_t row, int64_t column) { return row <= column; });
}

Result<Array> tril(const Evaluating& e) {
  return triangle(e, [](int64_t row, int64_t column) { return row >= column; });
}

constexpr EvaluateRow kMovementRows[] = {
    {Expand, expand}, {Pad, pad},           {Stack, stack},   {Cat, cat},   {Roll, roll},
    {Repeat, repeat}, {Diagonal, diagonal}, {Unfold, unfold}, {Triu, triu}, {Tril, tril},
};

}  // namespace

std::span<const EvaluateRow> movement_rows() { return kMovementRows; }

}  // namespace assay::reference
