#include <fmt/format.h>

#include <numeric>
#include <optional>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"
#include "engine/tensor/spatial.h"

namespace assay::tensor {
namespace {

// x [n, groups * c, d...] by w [groups, m, c, k...], at one type.
struct Correlation {
  Term x;
  Term w;
  std::vector<Window> windows;
  // bool [1, 1, d...]: where x has elements; elsewhere nothing is added, not even zero times w.
  std::optional<Term> has_element;

  int64_t spatial() const { return static_cast<int64_t>(windows.size()); }
};

// Windowed [n, c, o..., k...] as [c, k..., n, groups, 1, o...].
Term folded_first(Term x, int64_t spatial, Dim groups, Dim channels) {
  x = split_axis(x, 1, {groups.u, channels.u});  // [n, groups, c, o..., k...]
  Axes order = {2};
  for (int64_t i = 0; i < spatial; i++) order.push_back(3 + spatial + i);
  order.insert(order.end(), {0, 1});
  for (int64_t i = 0; i < spatial; i++) order.push_back(3 + i);
  return insert_axis(permute(x, order), spatial + 3);
}

// [n, groups * m, o...]
Result<Term> correlate(const Building& b, const Correlation& c) {
  const int64_t spatial = c.spatial();
  const Dim groups = c.w.size(0);
  ASSAY_TRY(elements, all_windows(b, c.x, 2, c.windows));
  const Term x = folded_first(elements, spatial, groups, c.w.size(2));
  // [c, k..., 1, groups, m, 1...]
  Term w = move_axis(move_axis(c.w, 0, 2 + spatial), 0, 2 + spatial);
  w = insert_axis(w, 1 + spatial);
  for (int64_t i = 0; i < spatial; i++) w = insert_axis(w, w.rank());
  Term products = x * w;
  if (c.has_element) {
    ASSAY_TRY(inside, all_windows(b, *c.has_element, 2, c.windows));
    const Dim one = groups.of(1);
    products = where(folded_first(inside, spatial, one, one), products, number(products, 0));
  }
  Axes axes(static_cast<size_t>(spatial) + 1);
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return join_axes(sum(products, axes), 1, 2);
}

// The sums at the type of the operands, and the bias, one a channel, added to them.
Result<Ref> biased(const Building& b, Term sums) {
  sums = cast(sums, b.x()->dtype);
  if (has_operand(b, 2)) {
    Term bias = operand(b, 2);
    if (bias.rank() != 1 || !may_be_equal(bias.size(0), sums.size(1))) {
      return Error{fmt::format("{} has a bias of shape {} for a result of {}", b.row().text,
                               uop::shape_text(bias.shape()), uop::shape_text(sums.shape()))};
    }
    for (int64_t i = 2; i < sums.rank(); i++) bias = insert_axis(bias, bias.rank());
    sums = sums + bias;
  }
  return sums.u;
}

struct Operands {
  Term x;
  Term w;
  Dim groups;
  std::vector<int64_t> sizes;  // of the windows
  DType acc;
};

Result<Operands> operands_of(const Building& b) {
  const Term x = operand(b, 0);
  const Term w = operand(b, 1);
  const DType t = x.dtype();
  ASSAY_TRY(acc, accumulation(b, t, uop::is_float(t) ? sum_type(t) : t));
  if (x.rank() != w.rank() || x.rank() < 2) {
    return Error{fmt::format("{} of shapes {} and {}", b.row().text, uop::shape_text(x.shape()),
                             uop::shape_text(w.shape()))};
  }
  const int64_t groups = b.integer("groups");
  if (groups < 1) return Error{fmt::format("{} has {} groups", b.row().text, groups)};
  Operands o = {cast(x, acc), cast(w, acc), x.dim(groups), {}, acc};
  for (int64_t i = 2; i < w.rank(); i++) {
    ASSAY_TRY(size, number_of(b, "window size", w.size(i).u));
    o.sizes.push_back(size);
  }
  return o;
}

Error wrong_channels(const Building& b, const Operands& o) {
  return Error{fmt::format("{} of shapes {} and {} in {} groups", b.row().text,
                           uop::shape_text(o.x.shape()), uop::shape_text(o.w.shape()),
                           b.integer("groups"))};
}

Result<Ref> conv(const Building& b) {
  ASSAY_TRY(o, operands_of(b));
  ASSAY_TRY(s, spatial(b, o.sizes, Stride::One));
  const Dim filters = o.w.size(0) / o.groups;
  if (!may_be_equal(o.x.size(1), o.w.size(1) * o.groups) ||
      !may_be_equal(o.w.size(0), filters * o.groups)) {
    return wrong_channels(b, o);
  }
  Correlation c = {o.x, split_axis(o.w, 0, {o.groups.u, filters.u}), s.windows, {}};
  for (size_t i = 0; i < s.windows.size(); i++) {
    c.x = pad(c.x, static_cast<int64_t>(i) + 2, s.low[i], s.high[i]);
  }
  ASSAY_TRY(sums, correlate(b, c));
  return biased(b, sums);
}

// An axis with stride - 1 zeros between its elements, and as many around them as make each meet all
// of the window.
Term spread(Term x, int64_t axis, Dim stride, Dim low, Dim high) {
  x = pad(insert_axis(x, axis + 1), axis + 1, stride.of(0), stride - 1);
  x = join_axes(x, axis, 2);
  x = shrink(x, axis, stride.of(0), x.size(axis) - stride + 1);
  return pad_or_cut(x, axis, low, high);
}

// The correlation of x, spread by its stride, with the mirrored windows.
Result<Ref> conv_transpose(const Building& b) {
  ASSAY_TRY(o, operands_of(b));
  ASSAY_TRY(s, spatial(b, o.sizes, Stride::One));
  std::vector<Ref> extra(o.sizes.size(), uop::dim(b.g, 0));
  if (b.has("output_padding")) extra = b.dims("output_padding");
  if (extra.size() != o.sizes.size()) {
    return Error{fmt::format("conv_transpose has an output_padding of {} numbers for {} axes",
                             extra.size(), o.sizes.size())};
  }
  const Dim channels = o.w.size(0) / o.groups;
  if (!may_be_equal(o.x.size(1), o.w.size(0)) || !may_be_equal(o.w.size(0), channels * o.groups)) {
    return wrong_channels(b, o);
  }
  // [groups, m, c, k...]
  const Term w = move_axis(split_axis(o.w, 0, {o.groups.u, channels.u}), 2, 1);
  Axes mirrored;
  Dims inside_dims = dims_of(o.x);
  inside_dims[0] = inside_dims[1] = uop::dim(b.g, 1);
  Term inside = full(o.x, uop::of_bool(true), inside_dims);
  Dims result_dims = {o.x.size(0).u, (o.groups * w.size(1)).u};
  bool is_empty = false;
  Correlation c = {o.x, w, s.windows, {}};
  for (size_t i = 0; i < s.windows.size(); i++) {
    const auto axis = static_cast<int64_t>(i) + 2;
    if (c.x.size(axis).is(0)) return Error{"conv_transpose of an empty axis"};
    Window& window = c.windows[i];
    const Dim stride = o.groups.of(window.stride);
    const Dim reach = stride.of(window.extent() - 1);
    const Dim high = reach - s.high[i] + Dim{&b.g, extra[i]};
    c.x = spread(c.x, axis, stride, reach - s.low[i], high);
    inside = spread(inside, axis, stride, reach - s.low[i], high);
    const Dim size = c.x.size(axis) - (window.extent() - 1);
    result_dims.push_back(size.u);
    is_empty = is_empty || is_at_most(size, size.of(0));
    window.stride = 1;
    mirrored.push_back(axis + 1);
  }
  if (is_empty) return biased(b, full(o.x, uop::zero_of(o.acc), result_dims));
  c.w = flip(c.w, mirrored);
  if (uop::is_float(o.acc)) c.has_element = inside;
  ASSAY_TRY(sums, correlate(b, c));
  return biased(b, sums);
}

constexpr BuildRow kConvRows[] = {
    {Op::Conv, conv},
    {Op::ConvTranspose, conv_transpose},
};

}  // namespace

std::span<const BuildRow> conv_builds() { return kConvRows; }

}  // namespace assay::tensor
