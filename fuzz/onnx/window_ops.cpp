#include <algorithm>
#include <string>

#include "fuzz/onnx/onnx.h"

namespace assay::fuzz::onnx {
namespace {

// What convolutions and pools share: of each axis of space.
struct Window {
  Sizes space;  // of the operand
  Sizes size;
  Sizes stride;
  Sizes dilation;
  Sizes low;
  Sizes high;
  bool ceil = false;

  size_t rank() const { return space.size(); }
  int64_t reach(size_t i) const { return (size[i] - 1) * dilation[i] + 1; }
  std::string attributes() const {
    std::string padding;
    for (size_t i = 0; i < rank(); i++) {
      padding += fmt::format("{}{}, {}", i == 0 ? "" : ", ", low[i], high[i]);
    }
    return fmt::format("stride=[{}], dilation=[{}], padding=[{}]", listed(stride), listed(dilation),
                       padding);
  }
  // The sizes of space of what slides over it.
  Sizes slid() const {
    Sizes result;
    for (size_t i = 0; i < rank(); i++) {
      const int64_t free = space[i] + low[i] + high[i] - reach(i);
      int64_t steps = free / stride[i];
      const bool has_rest = ceil && free % stride[i] != 0;
      // A window that would start in the padding behind the operand does not count.
      if (has_rest && (steps + 1) * stride[i] < space[i] + low[i]) steps++;
      result.push_back(steps + 1);
    }
    return result;
  }
};

// Pads so that as many windows start as steps fit in the operand.
void pad_same(Window& p, bool more_behind) {
  for (size_t i = 0; i < p.rank(); i++) {
    const int64_t count = (p.space[i] + p.stride[i] - 1) / p.stride[i];
    const int64_t total = std::max<int64_t>((count - 1) * p.stride[i] + p.reach(i) - p.space[i], 0);
    p.low[i] = more_behind ? total / 2 : total - total / 2;
    p.high[i] = total - p.low[i];
  }
}

std::optional<Window> window_of(Writer& w, const Val& x, const Sizes& kernel) {
  if (x.rank() < 3) {
    w.malformed("a window slides over 3 axes or more");
    return std::nullopt;
  }
  Window p;
  p.space = Sizes(x.shape.begin() + 2, x.shape.end());
  p.size = kernel;
  p.stride = w.list("strides").value_or(Sizes(p.rank(), 1));
  p.dilation = w.list("dilations").value_or(Sizes(p.rank(), 1));
  const Sizes pads = w.list("pads").value_or(Sizes(2 * p.rank(), 0));
  const bool fits = p.size.size() == p.rank() && p.stride.size() == p.rank() &&
                    p.dilation.size() == p.rank() && pads.size() == 2 * p.rank();
  const auto is_positive = [](int64_t n) { return n > 0; };
  if (!fits || !std::ranges::all_of(p.stride, is_positive)) {
    w.malformed(fmt::format("the lists of {} do not fit its operand", w.source().op));
    return std::nullopt;
  }
  const auto half = static_cast<ptrdiff_t>(p.rank());
  p.low = Sizes(pads.begin(), pads.begin() + half);
  p.high = Sizes(pads.begin() + half, pads.end());
  p.ceil = w.integer("ceil_mode", 0) != 0;
  return p;
}

std::optional<Window> sliding_window(Writer& w, const Val& x, const Sizes& kernel) {
  auto p = window_of(w, x, kernel);
  const std::string same = w.text("auto_pad", "NOTSET");
  if (p && same.starts_with("SAME")) pad_same(*p, same == "SAME_UPPER");
  return p;
}

Sizes spatial(const Val& x) {
  return x.rank() < 2 ? Sizes{} : Sizes(x.shape.begin() + 2, x.shape.end());
}

Sizes joined(int64_t n, int64_t c, const Sizes& space) {
  Sizes result = {n, c};
  result.insert(result.end(), space.begin(), space.end());
  return result;
}

void pool(Writer& w) {
  if (w.source().outputs.size() > 1) return w.cannot("where in the operand the largest stands");
  const Val x = w.in(0);
  const auto p = sliding_window(w, x, w.list("kernel_shape").value_or(Sizes{}));
  if (!p) return;
  const bool is_max = w.source().op == "MaxPool";
  const bool counts_padding = w.integer("count_include_pad", 0) != 0;
  w.gives(
      0, w.emit(x.type, joined(x.shape[0], x.shape[1], p->slid()), is_max ? "max_pool" : "avg_pool",
                fmt::format("{}, size=[{}], {}{}{}", x.name, listed(p->size), p->attributes(),
                            p->ceil ? ", ceil=true" : "",
                            is_max || counts_padding ? "" : ", count_padding=false")));
}

void global_pool(Writer& w) {
  const Val x = w.in(0);
  Sizes axes;
  for (int64_t i = 2; i < x.rank(); i++) axes.push_back(i);
  w.gives(0, w.reduce(w.source().op == "GlobalMaxPool" ? "max" : "mean", x, axes, true));
}

void conv(Writer& w) {
  const Val x = w.in(0);
  const Val k = w.in(1);
  const auto p = sliding_window(w, x, spatial(k));
  if (!p) return;
  const std::string bias = w.has(2) ? fmt::format(", {}", w.in(2).name) : "";
  w.gives(0, w.emit(x.type, joined(x.shape[0], k.shape[0], p->slid()), "conv",
                    fmt::format("{}, {}{}, {}, groups={}", x.name, k.name, bias, p->attributes(),
                                w.integer("group", 1))));
}

// The padding that gives the output these sizes; where it would be negative the output is longer
// behind instead.
void pad_to(Window& p, const Sizes& output, Sizes& longer, bool more_behind) {
  for (size_t i = 0; i < p.rank(); i++) {
    const int64_t total = p.stride[i] * (p.space[i] - 1) + longer[i] + p.reach(i) - output[i];
    if (total < 0) longer[i] -= total;
    const int64_t padding = std::max<int64_t>(total, 0);
    p.low[i] = more_behind ? padding / 2 : padding - padding / 2;
    p.high[i] = padding - p.low[i];
  }
}

void conv_transpose(Writer& w) {
  const Val x = w.in(0);
  const Val k = w.in(1);
  auto p = window_of(w, x, spatial(k));
  if (!p) return;
  Sizes longer = w.list("output_padding").value_or(Sizes(p->rank(), 0));
  const std::string same = w.text("auto_pad", "NOTSET");
  Sizes output = w.list("output_shape").value_or(Sizes{});
  if (output.empty() && same.starts_with("SAME")) {
    for (size_t i = 0; i < p->rank(); i++) output.push_back(p->space[i] * p->stride[i]);
  }
  if (longer.size() != p->rank() || (!output.empty() && output.size() != p->rank())) {
    return w.malformed("the lists of ConvTranspose do not fit its operand");
  }
  if (!output.empty()) pad_to(*p, output, longer, same == "SAME_UPPER");
  Sizes space;
  for (size_t i = 0; i < p->rank(); i++) {
    space.push_back(p->stride[i] * (p->space[i] - 1) + longer[i] + p->reach(i) - p->low[i] -
                    p->high[i]);
  }
  const int64_t groups = w.integer("group", 1);
  const std::string bias = w.has(2) ? fmt::format(", {}", w.in(2).name) : "";
  w.gives(0, w.emit(x.type, joined(x.shape[0], k.shape[1] * groups, space), "conv_transpose",
                    fmt::format("{}, {}{}, {}, output_padding=[{}], groups={}", x.name, k.name,
                                bias, p->attributes(), listed(longer), groups)));
}

constexpr OpRow kWindowRows[] = {
    {"AveragePool", pool},
    {"Conv", conv},
    {"ConvTranspose", conv_transpose},
    {"GlobalAveragePool", global_pool},
    {"GlobalMaxPool", global_pool},
    {"MaxPool", pool},
};

}  // namespace

std::span<const OpRow> window_ops() { return kWindowRows; }

}  // namespace assay::fuzz::onnx
