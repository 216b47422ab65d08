#include <algorithm>
#include <numeric>
#include <string>

#include "engine/tensor/program/text.h"
#include "fuzz/onnx/onnx.h"

namespace assay::fuzz::onnx {
namespace {

// Operators that only name the elements anew: the shape is that of the output.
void reshape(Writer& w) {
  const Val x = w.in(0);
  const Val y = w.emit(x.type, w.source().outputs[0].shape, "reshape", x.name);
  w.gives(0, y);
}

void transpose(Writer& w) {
  const Val x = w.in(0);
  Sizes reversed(x.shape.size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  w.gives(0, w.permute(x, w.list("perm").value_or(reversed)));
}

void concat(Writer& w) {
  const Val first = w.in(0);
  const int64_t axis = w.axis(w.integer("axis", 0), first.rank());
  std::string arguments = first.name;
  int64_t size = first.size(axis);
  for (size_t i = 1; i < w.source().inputs.size(); i++) {
    const Val next = w.in(i);
    arguments += fmt::format(", {}", next.name);
    size += next.size(axis);
  }
  w.gives(0, w.emit(first.type, first.with(axis, size), "cat",
                    fmt::format("{}, axis={}", arguments, axis)));
}

void split(Writer& w) {
  const Val x = w.in(0);
  const int64_t axis = w.axis(w.integer("axis", 0), x.rank());
  int64_t begin = 0;
  for (size_t i = 0; i < w.source().outputs.size(); i++) {
    const Sizes& shape = w.source().outputs[i].shape;
    const int64_t n = Val{"", x.type, shape}.size(axis);
    w.gives(i, w.slice(x, axis, begin, begin + n));
    begin += n;
  }
}

// One axis of an operator Slice, as ours takes it: forwards, within the axis, of a positive step.
struct Range {
  bool is_backwards = false;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t step = 1;
  int64_t count = 0;
};

Range range_of(int64_t start, int64_t end, int64_t step, int64_t n) {
  const auto within = [n](int64_t i, int64_t least, int64_t most) {
    return std::clamp(i < 0 ? i + n : i, least, most);
  };
  step = std::clamp(step, -n - 1, n + 1);
  Range r;
  r.is_backwards = step < 0;
  if (step < 0) {
    // Element i of what runs backwards is element n - 1 - i.
    r.begin = n - 1 - within(start, 0, n - 1);
    r.end = n - 1 - within(end, -1, n - 1);
  } else {
    r.begin = within(start, 0, n);
    r.end = within(end, 0, n);
  }
  r.step = std::max<int64_t>(step < 0 ? -step : step, 1);
  r.end = std::max(r.begin, r.end);
  r.count = (r.end - r.begin + r.step - 1) / r.step;
  return r;
}

Sizes ones_or(Writer& w, size_t i, size_t count) {
  return w.has(i) ? w.any_integers(i) : Sizes(count, 1);
}

void slice(Writer& w) {
  Val x = w.in(0);
  const Sizes starts = w.any_integers(1);
  const Sizes ends = w.any_integers(2);
  Sizes axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (w.has(3)) axes = w.integers(3);
  const Sizes steps = ones_or(w, 4, starts.size());
  const size_t n = starts.size();
  if (ends.size() != n || axes.size() != n || steps.size() != n || x.shape.empty()) {
    return w.malformed("the lists of Slice are not of one length");
  }
  std::vector<std::string> at(x.shape.size(), ":");
  Sizes shape = x.shape;
  Sizes backwards;
  for (size_t i = 0; i < n; i++) {
    const int64_t axis = w.axis(axes[i], x.rank());
    const auto place = static_cast<size_t>(axis);
    if (x.shape[place] == 0) continue;
    const Range r = range_of(starts[i], ends[i], steps[i], x.shape[place]);
    if (r.is_backwards) backwards.push_back(axis);
    at[place] = fmt::format("{}:{}:{}", r.begin, r.end, r.step);
    shape[place] = r.count;
  }
  if (!backwards.empty()) x = w.map("flip", x, fmt::format("axes=[{}]", listed(backwards)));
  w.gives(0,
          w.emit(x.type, shape, "slice", fmt::format("{}, at=[{}]", x.name, fmt::join(at, ", "))));
}

void pad(Writer& w) {
  const Val x = w.in(0);
  const Sizes pads = w.integers(1);
  const size_t rank = x.shape.size();
  if (pads.size() != 2 * rank) return w.malformed("the pads of Pad are not two for each axis");
  const Sizes low(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(rank));
  const Sizes high(pads.begin() + static_cast<ptrdiff_t>(rank), pads.end());
  Sizes shape = x.shape;
  for (size_t i = 0; i < rank; i++) shape[i] += low[i] + high[i];
  std::string arguments = fmt::format("{}, low=[{}], high=[{}], mode={}", x.name, listed(low),
                                      listed(high), w.text("mode", "constant"));
  if (w.has(2)) arguments += fmt::format(", value={}", tensor::to_text(w.scalar(2)));
  w.gives(0, w.emit(x.type, shape, "pad", arguments));
}

void expand(Writer& w) {
  const Val x = w.in(0);
  w.gives(0, w.emit(x.type, w.source().outputs[0].shape, "expand", x.name));
}

// [n, c, h, w] to [n, c / b^2, h * b, w * b]: the b^2 channels lie in front of those that stay, or
// (CRD) behind them.
void depth_to_space(Writer& w) {
  const Val x = w.in(0);
  const int64_t b = w.integer("blocksize", 1);
  if (x.rank() != 4 || b < 1) return w.malformed("DepthToSpace takes 4 axes and a block size");
  const int64_t n = x.shape[0];
  const int64_t c = x.shape[1] / (b * b);
  const int64_t h = x.shape[2];
  const int64_t v = x.shape[3];
  const bool is_behind = w.text("mode", "DCR") == "CRD";
  const Val parts = w.reshape(x, is_behind ? Sizes{n, c, b, b, h, v} : Sizes{n, b, b, c, h, v});
  const Val moved = w.permute(parts, is_behind ? Sizes{0, 1, 4, 2, 5, 3} : Sizes{0, 3, 4, 1, 5, 2});
  w.gives(0, w.reshape(moved, {n, c, h * b, v * b}));
}

void space_to_depth(Writer& w) {
  const Val x = w.in(0);
  const int64_t b = w.integer("blocksize", 1);
  if (x.rank() != 4 || b < 1) return w.malformed("SpaceToDepth takes 4 axes and a block size");
  const int64_t n = x.shape[0];
  const int64_t c = x.shape[1];
  const int64_t h = x.shape[2] / b;
  const int64_t v = x.shape[3] / b;
  const Val parts = w.reshape(x, {n, c, h, b, v, b});
  const Val moved = w.permute(parts, {0, 3, 5, 1, 2, 4});
  w.gives(0, w.reshape(moved, {n, c * b * b, h, v}));
}

void trilu(Writer& w) {
  const Val x = w.in(0);
  const Sizes k = w.has(1) ? w.integers(1) : Sizes{0};
  const bool is_upper = w.integer("upper", 1) != 0;
  w.gives(0,
          w.map(is_upper ? "triu" : "tril", x, fmt::format("diagonal={}", k.empty() ? 0 : k[0])));
}

void range(Writer& w) {
  const Tensor& y = w.source().outputs[0];
  w.gives(0, w.emit(y.type, y.shape, "iota",
                    fmt::format("start={}, step={}", tensor::to_text(w.scalar(0)),
                                tensor::to_text(w.scalar(2)))));
}

void shape(Writer& w) { w.cannot("sizes are no values of the language"); }

constexpr OpRow kShapeRows[] = {
    {"Concat", concat},
    {"DepthToSpace", depth_to_space},
    {"Expand", expand},
    {"Flatten", reshape},
    {"Pad", pad},
    {"Range", range},
    {"Reshape", reshape},
    {"Shape", shape},
    {"Size", shape},
    {"Slice", slice},
    {"SpaceToDepth", space_to_depth},
    {"Split", split},
    {"Squeeze", reshape},
    {"Transpose", transpose},
    {"Trilu", trilu},
    {"Unsqueeze", reshape},
};

}  // namespace

std::span<const OpRow> shape_ops() { return kShapeRows; }

}  // namespace assay::fuzz::onnx
