#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oracles/reference/evaluating.h"

namespace assay::reference {
namespace {

using enum tensor::Op;

Seen seen(const Array& x, std::span<const Axis> axes) {
  return {x.dtype, shape_of(axes), places(axes)};
}

Result<Seen> reshape(const Evaluating& e) {
  const Array& x = e.x();
  ASSAY_TRY(to, count_of(e.shape));
  if (to != count(x.shape)) {
    return Error{fmt::format("reshape of {} to {} changes the number of elements", to_text(x.shape),
                             to_text(e.shape)),
                 0, 0};
  }
  return Seen{x.dtype, e.shape, std::nullopt};
}

Result<Seen> permute(const Evaluating& e) {
  const Array& x = e.x();
  const size_t rank = x.shape.size();
  ASSAY_TRY(order, e.axes("order", rank));
  if (!e.has("order")) std::reverse(order.begin(), order.end());
  if (order.size() != rank) {
    return Error{fmt::format("order names {} of {} axes", order.size(), rank), 0, 0};
  }
  std::vector<Axis> from = axes_of(x.shape);
  std::vector<Axis> axes;
  for (const int64_t axis : order) axes.push_back(std::move(from[static_cast<size_t>(axis)]));
  return seen(x, axes);
}

Result<Seen> flip(const Evaluating& e) {
  const Array& x = e.x();
  ASSAY_TRY(flipped, e.axes("axes", x.shape.size()));
  std::vector<Axis> axes = axes_of(x.shape);
  for (const int64_t axis : flipped) {
    std::reverse(axes[static_cast<size_t>(axis)].begin(), axes[static_cast<size_t>(axis)].end());
  }
  return seen(x, axes);
}

// The positions that a slice picks of an axis.
Result<Axis> picked(const Evaluating& e, const tensor::Slice& slice, const Axis& axis,
                    size_t number) {
  const auto n = static_cast<int64_t>(axis.size());
  const auto begin = tensor::evaluate(slice.begin, e.variables);
  const auto end = slice.end ? tensor::evaluate(*slice.end, e.variables) : std::optional(n);
  const auto step = tensor::evaluate(slice.step, e.variables);
  if (!begin || !end || !step) {
    return Error{fmt::format("the slice of axis {} is no number of 64 bits", number), 0, 0};
  }
  if (*begin < 0 || *begin > *end || *end > n || *step <= 0) {
    return Error{
        fmt::format("{}:{}:{} is no slice of axis {}, which is {}", *begin, *end, *step, number, n),
        0, 0};
  }
  Axis result;
  for (int64_t i = *begin; i < *end; i += std::min(*step, n)) {
    result.push_back(axis[static_cast<size_t>(i)]);
  }
  return result;
}

Result<Seen> slice(const Evaluating& e) {
  const Array& x = e.x();
  const auto& slices = std::get<std::vector<tensor::Slice>>(e.attr("at"));
  if (slices.size() > x.shape.size()) {
    return Error{fmt::format("{} slices of {} axes", slices.size(), x.shape.size()), 0, 0};
  }
  std::vector<Axis> axes = axes_of(x.shape);
  for (size_t i = 0; i < slices.size(); ++i) {
    ASSAY_TRY(axis, picked(e, slices[i], axes[i], i));
    axes[i] = std::move(axis);
  }
  return seen(x, axes);
}

Result<Seen> reinterpret(const Evaluating& e) {
  const Array& x = e.x();
  const DType to = e.define.dtype;
  if (x.dtype == to) return Seen{to, x.shape, std::nullopt};
  for (const DType t : {x.dtype, to}) {
    if (t == uop::Bool || t == uop::Index || t == uop::Void) {
      return Error{fmt::format("{} has no bytes to be read as another type", uop::to_text(t)), 0,
                   0};
    }
  }
  const int64_t from_bytes = uop::bytes_of(x.dtype);
  const int64_t to_bytes = uop::bytes_of(to);
  if (from_bytes == to_bytes) return Seen{to, x.shape, std::nullopt};
  if (x.shape.empty() || x.shape.back() * from_bytes % to_bytes != 0) {
    return Error{fmt::format("the last axis of {} of {} does not hold whole elements of {}",
                             to_text(x.shape), uop::to_text(x.dtype), uop::to_text(to)),
                 0, 0};
  }
  Dims shape = x.shape;
  shape.back() = shape.back() * from_bytes / to_bytes;
  ASSAY_TRY(elements, count_of(shape));
  (void)elements;
  return Seen{to, std::move(shape), std::nullopt};
}

constexpr EvaluateRow kViewsRows[] = {
    {Reshape, nullptr, reshape}, {Permute, nullptr, permute},     {Flip, nullptr, flip},
    {Slice, nullptr, slice},     {Bitcast, nullptr, reinterpret},
};

}  // namespace

std::span<const EvaluateRow> view_rows() { return kViewsRows; }

}  // namespace assay::reference
