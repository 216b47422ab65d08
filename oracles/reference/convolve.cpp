#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oracles/reference/contract.h"
#include "oracles/reference/scalar.h"
#include "oracles/reference/windows.h"

namespace assay::reference {
namespace {

// The parts of x [n, c, d...] and w: the channels of a group of x and of the result.
struct Channels {
  int64_t groups = 1;
  int64_t in = 0;   // of x, in one group
  int64_t out = 0;  // of the result, in one group
};

Error misfit(const Evaluating& e, std::string_view why) {
  return Error{fmt::format("{} of {} by {} in {} groups: {}", e.row().text, to_text(e.x().shape),
                           to_text(e.y().shape), e.integer("groups"), why),
               0, 0};
}

// w is [m, c/groups, k...], or [c, m/groups, k...] where it is transposed.
Result<Channels> channels_of(const Evaluating& e, bool transposed) {
  const Dims& x = e.x().shape;
  const Dims& w = e.y().shape;
  const int64_t groups = e.integer("groups");
  if (x.size() < 2) return misfit(e, "x needs a batch and a channel axis");
  if (w.size() != x.size()) return misfit(e, "w has as many axes as x");
  if (groups < 1 || x[1] % groups != 0 || w[0] % groups != 0) {
    return misfit(e, "channels are not divided by groups");
  }
  const Channels c{groups, x[1] / groups, transposed ? w[1] : w[0] / groups};
  const int64_t met = transposed ? w[0] / groups : w[1];
  if (met != c.in) return misfit(e, "the channels of x and w differ");
  return c;
}

// The result, whose channels stand last, with them second, and b added to each.
Result<Array> finished(const Evaluating& e, const Array& last) {
  std::vector<Axis> axes = axes_of(last.shape);
  std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  Array result = moved(last, axes);
  if (!e.has_operand(2)) return result;
  const Array& b = *e.operands[2];
  const int64_t channels = result.shape[1];
  if (b.shape != Dims{channels}) {
    return misfit(e, fmt::format("b is {} for {} channels", to_text(b.shape), channels));
  }
  const At at{e.at(result.dtype)};
  int64_t inner = 1;
  for (size_t i = 2; i < result.shape.size(); ++i) inner *= result.shape[i];
  for (int64_t i = 0; i < result.elements.size(); ++i) {
    result.elements[i] = at.add(result.elements[i], b.elements[i / inner % channels]);
  }
  return result;
}

// For each channel of the result, the place of the first of x that it sums over, `stride` being
// that of a channel of x.
Axis of_groups(const Channels& c, int64_t stride) {
  Axis axis;
  for (int64_t m = 0; m < c.groups * c.out; ++m) axis.push_back(m / c.out * c.in * stride);
  return axis;
}

// For each channel of the result, the place of the first of w that it is summed from.
Axis weights_of_groups(const Channels& c, const Dims& strides) {
  Axis axis;
  for (int64_t m = 0; m < c.groups * c.out; ++m) {
    axis.push_back(m / c.out * c.in * strides[0] + m % c.out * strides[1]);
  }
  return axis;
}

// Where the elements of x and of w meet along an axis, for one position of the result.
struct Meeting {
  Axis x;
  Axis w;
};

// Element i of x and k of w meet in the result at i * stride + k * dilation - low.
Meeting meeting(int64_t at, int64_t n, int64_t size, int64_t stride, int64_t dilation) {
  Meeting m;
  for (int64_t k = 0; k < size; ++k) {
    const int64_t from = at - k * dilation;
    if (from < 0 || from % stride != 0 || from / stride >= n) continue;
    m.x.push_back(from / stride);
    m.w.push_back(k);
  }
  return m;
}

// What conv_transpose is asked, and how large its result is.
struct Transposed {
  Channels channels;
  Dims size, stride, dilation, low;
  int64_t x_channel = 0, w_channel = 0;  // how far apart channels of x lie in x and in w
  Dims out;
};

Result<Transposed> transposed_of(const Evaluating& e) {
  ASSAY_TRY(channels, channels_of(e, true));
  const Dims& x = e.x().shape;
  const size_t axes = x.size() - 2;
  ASSAY_TRY(stride, e.sizes_or("stride", axes, 1));
  ASSAY_TRY(dilation, e.sizes_or("dilation", axes, 1));
  ASSAY_TRY(padding, e.sizes_or("padding", 2 * axes, 0));
  ASSAY_TRY(output_padding, e.sizes_or("output_padding", axes, 0));
  Transposed t{channels,
               Dims(e.y().shape.begin() + 2, e.y().shape.end()),
               std::move(stride),
               std::move(dilation),
               {},
               strides_of(x)[1],
               strides_of(e.y().shape)[0],
               {}};
  for (size_t i = 0; i < axes; ++i) {
    const int64_t n = x[i + 2];
    for (const int64_t size :
         {t.stride[i], t.dilation[i], padding[2 * i], padding[2 * i + 1], output_padding[i]}) {
      if (size > kMaxElements) return misfit(e, "it is too large to evaluate");
    }
    if (t.size[i] == 0 || t.stride[i] == 0 || t.dilation[i] == 0 || n == 0) {
      return misfit(e, fmt::format("axis {} has no elements or no step", i));
    }
    t.low.push_back(padding[2 * i]);
    const int64_t full = (n - 1) * t.stride[i] + t.dilation[i] * (t.size[i] - 1) + 1;
    t.out.push_back(full + output_padding[i] - padding[2 * i] - padding[2 * i + 1]);
    if (t.out[i] < 0) return misfit(e, fmt::format("axis {} would be {}", i, t.out[i]));
  }
  return t;
}

// [axis][position of the result]
using AllMeetings = std::vector<std::vector<Meeting>>;

AllMeetings all_meetings(const Transposed& t, const Dims& x, const Dims& w) {
  const Dims x_strides = strides_of(x);
  const Dims w_strides = strides_of(w);
  AllMeetings all;
  for (size_t i = 0; i < t.out.size(); ++i) {
    std::vector<Meeting> along;
    for (int64_t o = 0; o < t.out[i]; ++o) {
      along.push_back(meeting(o + t.low[i], x[i + 2], t.size[i], t.stride[i], t.dilation[i]));
      for (int64_t& place : along.back().x) place *= x_strides[i + 2];
      for (int64_t& place : along.back().w) place *= w_strides[i + 2];
    }
    all.push_back(std::move(along));
  }
  return all;
}

// What is summed into one place of the result: of a group's channels, all that meet there.
void meet(const Transposed& t, const AllMeetings& meetings, int64_t place, Factor& xs, Factor& ws) {
  std::vector<Axis> x(t.out.size() + 1);
  std::vector<Axis> w(t.out.size() + 1);
  x[0] = steps(t.channels.in, t.x_channel);
  w[0] = steps(t.channels.in, t.w_channel);
  for (size_t i = t.out.size(); i-- > 0;) {
    const Meeting& m = meetings[i][static_cast<size_t>(place % t.out[i])];
    place /= t.out[i];
    x[i + 1] = m.x;
    w[i + 1] = m.w;
  }
  xs.inner = places(x);
  ws.inner = places(w);
}

}  // namespace

Result<Array> conv(const Evaluating& e) {
  ASSAY_TRY(c, channels_of(e, false));
  const Dims& from = e.x().shape;
  const size_t axes = from.size() - 2;
  ASSAY_TRY(stride, e.sizes_or("stride", axes, 1));
  ASSAY_TRY(w, windows_of(e, Dims(from.begin() + 2, from.end()),
                          Dims(e.y().shape.begin() + 2, e.y().shape.end()), stride, false));
  ASSAY_TRY(x, padded(e, e.x(), w, of_integer(e.x().dtype, 0)));
  const Type acc = e.accumulator(x.dtype);
  const Dims x_strides = strides_of(x.shape);
  const Dims w_strides = strides_of(e.y().shape);
  // Channels of the result change fastest, so that those of a group share what they read of x.
  std::vector<Axis> x_outer = {steps(from[0], x_strides[0])};
  std::vector<Axis> w_outer = {steps(from[0], 0)};
  for (Axis& axis : begins(w, x.shape)) {
    w_outer.push_back(steps(static_cast<int64_t>(axis.size()), 0));
    x_outer.push_back(std::move(axis));
  }
  x_outer.push_back(of_groups(c, x_strides[1]));
  w_outer.push_back(steps(c.groups * c.out, w_strides[0]));
  std::vector<Axis> x_inner = insides(w, x.shape);
  x_inner.insert(x_inner.begin(), steps(c.in, x_strides[1]));
  ASSAY_TRY(results, count_of(shape_of(x_outer)));
  (void)results;
  const Factor xs{elements_at(x, acc), places(x_outer), places(x_inner)};
  const auto inner = static_cast<int64_t>(xs.inner.size());
  const Factor ws{elements_at(e.y(), acc), places(w_outer), steps(inner, 1)};
  ASSAY_TRY(last, contracted(e, shape_of(x_outer), xs, ws));
  return finished(e, last);
}

Result<Array> conv_transpose(const Evaluating& e) {
  ASSAY_TRY(t, transposed_of(e));
  const Array& x = e.x();
  const Type acc = e.accumulator(x.dtype);
  Dims shape = {x.shape[0]};
  shape.insert(shape.end(), t.out.begin(), t.out.end());
  shape.push_back(t.channels.groups * t.channels.out);
  ASSAY_TRY(results, count_of(shape));
  ASSAY_TRY(spent, e.spend(results * std::max<int64_t>(1, t.channels.in * count(t.size))));
  (void)spent;
  const AllMeetings meetings = all_meetings(t, x.shape, e.y().shape);
  const Axis x_groups = of_groups(t.channels, strides_of(x.shape)[1]);
  const Axis w_groups = weights_of_groups(t.channels, strides_of(e.y().shape));
  Factor xs{elements_at(x, acc), {}, {}};
  Factor ws{elements_at(e.y(), acc), w_groups, {}};
  Array last{x.dtype, shape, Elements(results)};
  const auto channels = std::ssize(w_groups);
  int64_t done = 0;
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    xs.outer = x_groups;
    for (int64_t& begin : xs.outer) begin += n * strides_of(x.shape)[0];
    for (int64_t place = 0; place < count(t.out); ++place) {
      meet(t, meetings, place, xs, ws);
      last.elements.segment(done, channels) = cast(dots(acc, xs, ws), acc, x.dtype);
      done += channels;
    }
  }
  return finished(e, last);
}

}  // namespace assay::reference
