#include <fmt/format.h>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"
#include "engine/tensor/spatial.h"

namespace assay::tensor {
namespace {

struct Pool {
  Term x;
  int64_t first = 0;  // of the axes that have windows
  Spatial spatial;
  std::vector<Dim> high;  // with ceil: of what the last windows need, which may be less than given
  int64_t axis(size_t i) const { return first + static_cast<int64_t>(i); }
  Axes window_axes() const {
    Axes axes;
    axes.reserve(high.size());
    for (size_t i = 0; i < high.size(); i++) axes.push_back(x.rank() + static_cast<int64_t>(i));
    return axes;
  }
};

// The padding after an axis with which its windows are those that fit and one more if that begins
// before the padding.
Dim high_with_ceil(Dim n, Dim low, Dim high, const Window& w) {
  const Dim all = n + low + high;
  const Dim fitting = (all - w.extent()) / w.stride + 1;
  const Dim begun = (all - w.extent() + (w.stride - 1)) / w.stride + 1;
  const Dim inside = (n + low - 1) / w.stride + 1;
  const Dim count = largest(fitting, least(begun, inside));
  return (count - 1) * w.stride + w.extent() - n - low;
}

Result<Pool> pool_of(const Building& b) {
  const Term x = operand(b, 0);
  std::vector<int64_t> sizes;
  for (const Ref size : b.dims("size")) {
    ASSAY_TRY(n, number_of(b, "size", size));
    sizes.push_back(n);
  }
  const auto count = static_cast<int64_t>(sizes.size());
  if (count > x.rank()) {
    return Error{fmt::format("{} has windows of {} axes of a value of rank {}", b.row().text, count,
                             x.rank())};
  }
  ASSAY_TRY(s, spatial(b, sizes, Stride::Size));
  Pool pool = {x, x.rank() - count, s, s.high};
  for (size_t i = 0; i < sizes.size(); i++) {
    const Dim n = x.size(pool.axis(i));
    if (const auto fit = fits(b, n + s.low[i] + s.high[i], s.windows[i]); !fit.ok()) {
      return fit.error();
    }
    if (b.flag("ceil")) pool.high[i] = high_with_ceil(n, s.low[i], s.high[i], s.windows[i]);
  }
  return pool;
}

// The windows of x, elements outside being `fill`.
Result<Term> padded_windows(const Building& b, const Pool& pool, Term x, uop::Value fill) {
  for (size_t i = 0; i < pool.high.size(); i++) {
    const int64_t axis = pool.axis(i);
    const Dim zero = x.dim(0);
    const Dim more = largest(pool.high[i], zero);
    const Dim cut = more - pool.high[i];
    x = pad(x, axis, pool.spatial.low[i], more, fill);
    x = shrink(x, axis, zero, x.size(axis) - cut);
  }
  return all_windows(b, x, pool.first, pool.spatial.windows);
}

Result<Ref> max_pool(const Building& b) {
  ASSAY_TRY(pool, pool_of(b));
  ASSAY_TRY(all, padded_windows(b, pool, pool.x, uop::lowest(pool.x.dtype())));
  return reduce(Fn::Max, all, pool.window_axes()).u;
}

// How many elements of the windows of an axis lie in [begin, end) of x.
Term counted(Dim windows, int64_t axis, int64_t rank, Dim low, Dim begin, Dim end,
             const Window& w) {
  const Term at = positions(windows, axis, rank, uop::Index);
  const auto index = [&](int64_t n) { return value(at, uop::of_int(uop::Index, n)); };
  const Term start = at * index(w.stride) - Term{at.g, low.u};
  // The number of elements of a window that lie before a place.
  const auto before = [&](Dim place) {
    const Term distance = Term{at.g, place.u} - start + index(w.dilation - 1);
    const Term elements = call(Fn::Div, distance, index(w.dilation));
    return minimum(maximum(elements, index(0)), index(w.size));
  };
  return before(end) - before(begin);
}

Result<Ref> avg_pool(const Building& b) {
  ASSAY_TRY(pool, pool_of(b));
  const DType t = pool.x.dtype();
  const Term x = cast(pool.x, sum_type(t));
  ASSAY_TRY(all, padded_windows(b, pool, x, uop::zero_of(x.dtype())));
  const Term total = sum(all, pool.window_axes());
  Term count = number(total, 1);
  for (size_t i = 0; i < pool.high.size(); i++) {
    const Spatial& s = pool.spatial;
    const int64_t axis = pool.axis(i);
    const Dim n = pool.x.size(axis);
    const bool counts_padding = b.flag("count_padding");
    const Dim low = s.low[i];
    const Dim begin = counts_padding ? n.of(0) - low : n.of(0);
    const Dim end = counts_padding ? n + s.high[i] : n;
    const bool is_whole = is_at_most(begin, n.of(0) - low) && is_at_most(n + pool.high[i], end);
    if (is_whole) {
      count = count * static_cast<double>(s.windows[i].size);
      continue;
    }
    const Term along = counted(total.size(axis), axis, total.rank(), low, begin, end, s.windows[i]);
    count = count * cast(along, x.dtype());
  }
  return cast(total / count, t).u;
}

constexpr BuildRow kWindowRows[] = {
    {Op::MaxPool, max_pool},
    {Op::AvgPool, avg_pool},
};

}  // namespace

std::span<const BuildRow> window_builds() { return kWindowRows; }

}  // namespace assay::tensor
