#include <fmt/format.h>

#include <algorithm>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"

namespace assay::tensor {
namespace {

// An operand that broadcasts to the sizes of `axes`, laid along those of x.
Result<Term> laid_along(const Building& b, size_t operand_at, const Axes& axes, Term x) {
  Term w = operand(b, operand_at);
  const auto count = static_cast<int64_t>(axes.size());
  bool fits = w.rank() <= count;
  for (int64_t i = 0; fits && i < w.rank(); i++) {
    fits = may_broadcast(w.size(i), x.size(axes[static_cast<size_t>(i + count - w.rank())]));
  }
  if (!fits) {
    return Error{fmt::format("{} has a {} of shape {} beside {}", b.row().text,
                             b.row().operands[operand_at].name, uop::shape_text(w.shape()),
                             uop::shape_text(x.shape()))};
  }
  Dims dims(static_cast<size_t>(x.rank()), x.dim(1).u);
  for (int64_t i = 0; i < w.rank(); i++) {
    dims[static_cast<size_t>(axes[static_cast<size_t>(i + count - w.rank())])] = w.size(i).u;
  }
  return cast(reshape(w, dims), x.dtype());
}

// x * w + b where there are any, at x's type, then at that of the first operand.
Result<Ref> scaled(const Building& b, Term x, const Axes& axes) {
  const size_t operands = b.operands.size();
  if (operands > 1 && has_operand(b, 1)) {
    ASSAY_TRY(w, laid_along(b, 1, axes, x));
    x = x * w;
  }
  if (operands > 2 && has_operand(b, 2)) {
    ASSAY_TRY(bias, laid_along(b, 2, axes, x));
    x = x + bias;
  }
  return cast(x, operand(b, 0).dtype()).u;
}

Term accumulated(Term x) { return cast(x, sum_type(x.dtype())); }

Result<Ref> layer_norm(const Building& b) {
  const Term x = accumulated(operand(b, 0));
  ASSAY_TRY(axes, b.axes("axes", static_cast<size_t>(x.rank())));
  const Term y = normalized(x, axes, b.number("eps"));
  return scaled(b, y, axes);
}

Result<Ref> rms_norm(const Building& b) {
  const Term x = accumulated(operand(b, 0));
  ASSAY_TRY(axes, b.axes("axes", static_cast<size_t>(x.rank())));
  const Term y = x * rsqrt(mean(x * x, axes, true) + b.number("eps"));
  return scaled(b, y, axes);
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
  return scaled(b, y, {1});
}

Result<Ref> batch_norm(const Building& b) {
  const Term x = operand(b, 0);
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(x.rank())));
  if (x.rank() == 0) return Error{"batch_norm of a scalar, which has no channels"};
  ASSAY_TRY(average, laid_along(b, 1, {axis}, x));
  ASSAY_TRY(variance, laid_along(b, 2, {axis}, x));
  Term scale = rsqrt(variance + b.number("eps"));
  if (has_operand(b, 3)) {
    ASSAY_TRY(w, laid_along(b, 3, {axis}, x));
    scale = w * scale;
  }
  const Term y = (x - average) * scale;
  if (!has_operand(b, 4)) return y.u;
  ASSAY_TRY(bias, laid_along(b, 4, {axis}, x));
  return (y + bias).u;
}

constexpr BuildRow kNormRows[] = {
    {Op::LayerNorm, layer_norm},
    {Op::RmsNorm, rms_norm},
    {Op::GroupNorm, group_norm},
    {Op::BatchNorm, batch_norm},
};

}  // namespace

std::span<const BuildRow> norm_builds() { return kNormRows; }

}  // namespace assay::tensor
