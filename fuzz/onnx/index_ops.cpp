#include <algorithm>
#include <string>

#include "engine/tensor/program/text.h"
#include "fuzz/onnx/onnx.h"

namespace assay::fuzz::onnx {
namespace {

bool has_negative(const Tensor& t) {
  const auto integers = t.integers();
  return integers && std::ranges::any_of(*integers, [](int64_t i) { return i < 0; });
}

// An input of positions in an axis of n elements: those that count from the end, from the front.
Val positions(Writer& w, size_t input, int64_t n) {
  const Val i = w.in(input);
  const Tensor* t = w.constant(input);
  if (t == nullptr || !has_negative(*t)) return i;
  const Val below = w.emit(DType::Bool, i.shape, "lt", fmt::format("{}, 0", i.name));
  const Val from_front = w.map("add", i, fmt::format("{}", n));
  return w.emit(i.type, i.shape, "where",
                fmt::format("{}, {}, {}", below.name, from_front.name, i.name));
}

struct Axis {
  int64_t axis;
  int64_t size;
};

Axis axis_of(Writer& w, const Val& x, int64_t fallback) {
  const int64_t axis = w.axis(w.integer("axis", fallback), x.rank());
  return {axis, x.size(axis)};
}

void gather(Writer& w) {
  const Val x = w.in(0);
  const Axis a = axis_of(w, x, 0);
  const Val i = positions(w, 1, a.size);
  Sizes shape = x.shape;
  if (!shape.empty()) {
    shape.erase(shape.begin() + a.axis);
    shape.insert(shape.begin() + a.axis, i.shape.begin(), i.shape.end());
  }
  w.gives(0, w.emit(x.type, shape, "take", fmt::format("{}, {}, axis={}", x.name, i.name, a.axis)));
}

void gather_elements(Writer& w) {
  const Val x = w.in(0);
  const Axis a = axis_of(w, x, 0);
  const Val i = positions(w, 1, a.size);
  w.gives(
      0, w.emit(x.type, i.shape, "gather", fmt::format("{}, {}, axis={}", x.name, i.name, a.axis)));
}

void scatter_elements(Writer& w) {
  const Val x = w.in(0);
  const Axis a = axis_of(w, x, 0);
  const Val i = positions(w, 1, a.size);
  const Val y = w.in(2);
  const std::string reduction = w.text("reduction", "none");
  w.gives(0, w.map("scatter", x,
                   fmt::format("{}, {}, axis={}, reduce={}", i.name, y.name, a.axis,
                               reduction == "none" ? "set" : reduction)));
}

// The k numbers of each last row are one position among the first k axes, flattened.
void gather_nd(Writer& w) {
  if (w.integer("batch_dims", 0) != 0) return w.cannot("batches of positions");
  const Val x = w.in(0);
  const Tensor* t = w.constant(1);
  if (t == nullptr || t->shape.empty()) return w.malformed("GatherND takes rows of positions");
  if (has_negative(*t)) return w.cannot("positions from the end");
  const Val i = w.in(1);
  const auto k = static_cast<size_t>(i.shape.back());
  if (k < 1 || k > x.shape.size()) return w.malformed("GatherND takes rows of positions");
  const Sizes outer(i.shape.begin(), i.shape.end() - 1);
  Val flat;
  for (size_t axis = 0; axis < k; axis++) {
    const auto place = static_cast<int64_t>(axis);
    Val one = w.reshape(w.slice(i, i.rank() - 1, place, place + 1), outer);
    const int64_t stride = product(x.shape, axis + 1, k);
    if (stride != 1) one = w.map("mul", one, fmt::format("{}", stride));
    flat = axis == 0 ? one : w.map("add", flat, one);
  }
  Sizes rows = {product(x.shape, 0, k)};
  rows.insert(rows.end(), x.shape.begin() + static_cast<ptrdiff_t>(k), x.shape.end());
  Sizes shape = outer;
  shape.insert(shape.end(), rows.begin() + 1, rows.end());
  const Val table = w.reshape(x, rows);
  w.gives(0, w.emit(x.type, shape, "take", fmt::format("{}, {}", table.name, flat.name)));
}

void one_hot(Writer& w) {
  const Sizes depths = w.integers(1);
  const Tensor* values = w.constant(2);
  if (depths.size() != 1 || values == nullptr || values->data.size() != 2) {
    return w.malformed("OneHot takes a depth and two values");
  }
  const Val i = w.cast(positions(w, 0, depths[0]), DType::I64);
  const int64_t axis = w.axis(w.integer("axis", -1), i.rank() + 1);
  Sizes shape = i.shape;
  shape.insert(shape.begin() + axis, depths[0]);
  w.gives(0, w.emit(values->type, shape, "one_hot",
                    fmt::format("{}, classes={}, off={}, on={}, axis={}", i.name, depths[0],
                                tensor::to_text(values->data[0]), tensor::to_text(values->data[1]),
                                axis)));
}

constexpr OpRow kIndexRows[] = {
    {"Gather", gather},  {"GatherElements", gather_elements},   {"GatherND", gather_nd},
    {"OneHot", one_hot}, {"ScatterElements", scatter_elements},
};

}  // namespace

std::span<const OpRow> index_ops() { return kIndexRows; }

}  // namespace assay::fuzz::onnx
