#include <fmt/format.h>

#include <algorithm>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"

namespace assay::tensor {
namespace {

// A weight or bias with an axis for each of `axes`, laid along those of a value of this rank. One
// of another rank broadcasts as it is.
Term laid_along(Term w, const Axes& axes, int64_t rank) {
  if (w.rank() != static_cast<int64_t>(axes.size())) return w;
  Dims dims(static_cast<size_t>(rank), w.dim(1).u);
  for (size_t i = 0; i < axes.size(); i++) {
    dims[static_cast<size_t>(axes[i])] = w.size(static_cast<int64_t>(i)).u;
  }
  return reshape(w, dims);
}

// x * w + b, each at x's type and where there is one.
Term scaled(const Building& b, Term x, size_t weight, size_t bias, const Axes& axes) {
  if (has_operand(b, weight)) {
    x = x * laid_along(cast(operand(b, weight), x.dtype()), axes, x.rank());
  }
  if (bias < b.operands.size() && has_operand(b, bias)) {
    x = x + laid_along(cast(operand(b, bias), x.dtype()), axes, x.rank());
  }
  return x;
}

Term accumulated(Term x) { return cast(x, sum_type(x.dtype())); }

Result<Ref> layer_norm(const Building& b) {
  const Term x = accumulated(operand(b, 0));
  ASSAY_TRY(axes, b.axes("axes", static_cast<size_t>(x.rank())));
  const Term y = normalized(x, axes, b.number("eps"));
  return cast(scaled(b, y, 1, 2, axes), b.x()->dtype).u;
}

Result<Ref> rms_norm(const Building& b) {
  const Term x = accumulated(operand(b, 0));
  ASSAY_TRY(axes, b.axes("axes", static_cast<size_t>(x.rank())));
  const Term y = x * rsqrt(mean(x * x, axes, true) + b.number("eps"));
  return cast(scaled(b, y, 1, 2, axes), b.x()->dtype).u;
}

Result<Ref> group_norm(const Building& b) {
  const Term x = accumulated(operand(b, 0));
  const int64_t groups = b.integer("groups");
  if (x.rank() < 2) return Error{fmt::format("group_norm of a value of rank {}", x.rank())};
  if (groups < 1) return Error{fmt::format("group_norm has {} groups", groups)};
  const Dim channels = x.size(1);
  const Dim members = channels / groups;
  if (!may_be_equal(members * groups, channels)) {
    return Error{fmt::format("group_norm of {} has {} groups", uop::shape_text(x.shape()), groups)};
  }
  Term grouped = split_axis(x, 1, {x.dim(groups).u, members.u});
  grouped = join_axes(grouped, 2, x.rank() - 1);
  const Term y = reshape(normalized(grouped, {2}, b.number("eps")), dims_of(x));
  return cast(scaled(b, y, 1, 2, {1}), b.x()->dtype).u;
}

Result<Ref> batch_norm(const Building& b) {
  const Term x = accumulated(operand(b, 0));
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(x.rank())));
  if (x.rank() == 0) return Error{"batch_norm of a scalar, which has no channels"};
  for (size_t i = 1; i < b.operands.size(); i++) {
    if (!has_operand(b, i)) continue;
    const Term p = operand(b, i);
    if (p.rank() == 0 || (p.rank() == 1 && may_be_equal(p.size(0), x.size(axis)))) continue;
    return Error{fmt::format("batch_norm has a {} of shape {} for axis {} of {}",
                             b.row().operands[i].name, uop::shape_text(p.shape()), axis,
                             uop::shape_text(x.shape()))};
  }
  const auto along = [&](size_t i) {
    return laid_along(cast(operand(b, i), x.dtype()), {axis}, x.rank());
  };
  Term scale = rsqrt(along(2) + b.number("eps"));
  if (has_operand(b, 3)) scale = along(3) * scale;
  Term y = (x - along(1)) * scale;
  if (has_operand(b, 4)) y = y + along(4);
  return cast(y, b.x()->dtype).u;
}

constexpr BuildRow kRows[] = {
    {Op::LayerNorm, layer_norm},
    {Op::RmsNorm, rms_norm},
    {Op::GroupNorm, group_norm},
    {Op::BatchNorm, batch_norm},
};

}  // namespace

std::span<const BuildRow> norm_builds() { return kRows; }

}  // namespace assay::tensor
