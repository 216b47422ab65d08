#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oracles/reference/lanes.h"
#include "oracles/reference/scalar.h"
#include "oracles/reference/windows.h"

namespace assay::reference {
namespace {

using enum tensor::Op;

// The windows of a pool, and its operand with what lies outside filled in.
struct Pool {
  Windows windows;
  Array x;
  Sets sets;
  Dims shape;
};

Result<Pool> pool_of(const Evaluating& e, const Bounded& outside) {
  const Dims& shape = e.x().shape;
  ASSAY_TRY(size, e.sizes("size"));
  if (size.size() > shape.size()) {
    return Error{fmt::format("windows of {} axes over {}", size.size(), to_text(shape)), 0, 0};
  }
  const auto lead = static_cast<std::ptrdiff_t>(shape.size() - size.size());
  const Dims over(shape.begin() + lead, shape.end());
  const size_t axes = size.size();
  Dims stride = size;
  if (e.has("stride")) {
    ASSAY_TRY(written, e.sizes_or("stride", axes, 1));
    stride = std::move(written);
  }
  ASSAY_TRY(windows, windows_of(e, over, std::move(size), stride, e.flag("ceil")));
  ASSAY_TRY(x, padded(e, e.x(), windows, outside));
  Pool pool{std::move(windows), std::move(x), {}, Dims(shape.begin(), shape.begin() + lead)};
  const std::vector<Axis> all = axes_of(pool.x.shape);
  std::vector<Axis> outer(all.begin(), all.begin() + lead);
  for (Axis& axis : begins(pool.windows, pool.x.shape)) outer.push_back(std::move(axis));
  const std::vector<Axis> inner = insides(pool.windows, pool.x.shape);
  pool.shape.insert(pool.shape.end(), pool.windows.out.begin(), pool.windows.out.end());
  ASSAY_TRY(results, count_of(pool.shape));
  ASSAY_TRY(spent, e.spend(results * std::max<int64_t>(1, count(shape_of(inner)))));
  (void)spent;
  pool.sets = {places(outer), places(inner)};
  return pool;
}

Result<Array> max_pool(const Evaluating& e) {
  const Type t = e.type();
  ASSAY_TRY(pool, pool_of(e, maximum(t, {})));
  return Array{t, std::move(pool.shape),
               folded(pool.x.elements, pool.sets,
                      [&](std::span<const Bounded> x) { return maximum(t, x); })};
}

// How many elements each window along an axis counts.
std::vector<int64_t> counted(const Windows& w, size_t axis, int64_t n, bool with_padding) {
  const int64_t begin = with_padding ? 0 : w.low[axis];
  const int64_t end = w.low[axis] + n + (with_padding ? w.high[axis] : 0);
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < w.out[axis]; ++i) {
    int64_t inside = 0;
    for (int64_t k = 0; k < w.size[axis]; ++k) {
      const int64_t at = i * w.stride[axis] + k * w.dilation[axis];
      inside += static_cast<int64_t>(begin <= at && at < end);
    }
    counts.push_back(inside);
  }
  return counts;
}

Result<Array> avg_pool(const Evaluating& e) {
  const DType t = e.x().dtype;
  const At at{e.accumulator(t)};
  ASSAY_TRY(pool, pool_of(e, of_integer(t, 0)));
  std::vector<int64_t> counts = {1};
  const size_t lead = pool.shape.size() - pool.windows.out.size();
  for (size_t i = 0; i < pool.windows.out.size(); ++i) {
    const std::vector<int64_t> along =
        counted(pool.windows, i, e.x().shape[lead + i], e.flag("count_padding"));
    std::vector<int64_t> all;
    for (const int64_t so_far : counts) {
      for (const int64_t n : along) all.push_back(so_far * n);
    }
    counts = std::move(all);
  }
  const Elements sums = folded(cast(pool.x.elements, t, at.t), pool.sets,
                               [&](std::span<const Bounded> x) { return sum(at.t, x); });
  return Array{t, std::move(pool.shape), Elements::NullaryExpr(sums.size(), [&](int64_t i) {
                 const int64_t n = counts[static_cast<size_t>(i) % counts.size()];
                 return cast(at.div(sums[i], of_integer(at.t, n)), at.t, t);
               })};
}

constexpr EvaluateRow kWindowRows[] = {{MaxPool, max_pool}, {AvgPool, avg_pool}};

}  // namespace

Result<Windows> windows_of(const Evaluating& e, const Dims& over, Dims size, const Dims& stride,
                           bool ceil) {
  const size_t axes = over.size();
  ASSAY_TRY(dilation, e.sizes_or("dilation", axes, 1));
  ASSAY_TRY(padding, e.sizes_or("padding", 2 * axes, 0));
  Windows w{std::move(size), stride, std::move(dilation), {}, {}, {}, {}};
  for (size_t i = 0; i < axes; ++i) {
    w.low.push_back(padding[2 * i]);
    w.high.push_back(padding[2 * i + 1]);
    if (w.size[i] == 0 || w.stride[i] == 0 || w.dilation[i] == 0) {
      return Error{fmt::format("axis {}: size, stride and dilation of a window are {}, {} and {}",
                               i, w.size[i], w.stride[i], w.dilation[i]),
                   0, 0};
    }
    for (const Dims* sizes : {&w.size, &w.stride, &w.dilation, &w.low, &w.high}) {
      if ((*sizes)[i] > kMaxElements) return Error{"a window is too large to evaluate", 0, 0};
    }
    const int64_t reach = w.dilation[i] * (w.size[i] - 1) + 1;
    const int64_t n = over[i] + w.low[i] + w.high[i];
    if (reach > n) {
      return Error{fmt::format("a window of {} in an axis of {}", reach, n), 0, 0};
    }
    int64_t out = (n - reach) / w.stride[i] + 1;
    const bool starts_inside = out * w.stride[i] < over[i] + w.low[i];
    if (ceil && (n - reach) % w.stride[i] != 0 && starts_inside) ++out;
    w.out.push_back(out);
    w.extra.push_back(std::max<int64_t>(0, (out - 1) * w.stride[i] + reach - n));
  }
  return w;
}

Result<Array> padded(const Evaluating& e, const Array& x, const Windows& w, const Bounded& fill) {
  std::vector<Axis> axes = axes_of(x.shape);
  const size_t lead = axes.size() - w.size.size();
  for (size_t i = 0; i < w.size.size(); ++i) {
    Axis& axis = axes[lead + i];
    axis.insert(axis.begin(), static_cast<size_t>(w.low[i]), kOutside);
    axis.insert(axis.end(), static_cast<size_t>(w.high[i] + w.extra[i]), kOutside);
  }
  ASSAY_TRY(elements, count_of(shape_of(axes)));
  ASSAY_TRY(spent, e.spend(elements));
  (void)spent;
  return moved(x, axes, fill);
}

std::vector<Axis> begins(const Windows& w, const Dims& padded) {
  const Dims strides = strides_of(padded);
  const size_t lead = padded.size() - w.size.size();
  std::vector<Axis> axes;
  for (size_t i = 0; i < w.size.size(); ++i) {
    axes.push_back(steps(w.out[i], w.stride[i] * strides[lead + i]));
  }
  return axes;
}

std::vector<Axis> insides(const Windows& w, const Dims& padded) {
  const Dims strides = strides_of(padded);
  const size_t lead = padded.size() - w.size.size();
  std::vector<Axis> axes;
  for (size_t i = 0; i < w.size.size(); ++i) {
    axes.push_back(steps(w.size[i], w.dilation[i] * strides[lead + i]));
  }
  return axes;
}

std::span<const EvaluateRow> window_rows() { return kWindowRows; }

}  // namespace assay::reference
