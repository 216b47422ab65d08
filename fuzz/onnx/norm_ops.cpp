#include <algorithm>
#include <string>

#include "fuzz/onnx/onnx.h"

namespace assay::fuzz::onnx {
namespace {

void mat_mul(Writer& w) {
  const Val x = w.in(0);
  const Val y = w.in(1);
  if (x.rank() < 2 || y.rank() < 2) return w.cannot("vectors");
  const Sizes x_outer(x.shape.begin(), x.shape.end() - 2);
  const Sizes y_outer(y.shape.begin(), y.shape.end() - 2);
  const auto outer = broadcast(x_outer, y_outer);
  if (!outer) return w.malformed("the outer axes of MatMul do not broadcast");
  Sizes shape = *outer;
  shape.push_back(x.shape[x.shape.size() - 2]);
  shape.push_back(y.shape.back());
  w.gives(0, w.emit(x.type, shape, "matmul", fmt::format("{}, {}", x.name, y.name)));
}

void gemm(Writer& w) {
  Val a = w.in(0);
  Val b = w.in(1);
  if (a.rank() != 2 || b.rank() != 2) return w.malformed("Gemm takes matrices");
  if (w.integer("transA", 0) != 0) a = w.permute(a, {1, 0});
  if (w.integer("transB", 0) != 0) b = w.permute(b, {1, 0});
  Val y = w.emit(a.type, {a.shape[0], b.shape[1]}, "matmul", fmt::format("{}, {}", a.name, b.name));
  const double alpha = w.real("alpha", 1);
  const double beta = w.real("beta", 1);
  if (alpha != 1) y = w.map("mul", y, alpha);
  if (w.has(2)) {
    const Val c = beta == 1 ? w.in(2) : w.map("mul", w.in(2), beta);
    y = w.map("add", y, c);
  }
  w.gives(0, y);
}

void einsum(Writer& w) {
  std::string equation = w.text("equation", "");
  std::erase(equation, ' ');
  if (equation.find("->") == std::string::npos) return w.cannot("equations without a result");
  std::string arguments;
  for (size_t i = 0; i < w.source().inputs.size(); i++) {
    arguments += fmt::format("{}, ", w.in(i).name);
  }
  const Val x = w.in(0);
  w.gives(0, w.emit(x.type, w.source().outputs[0].shape, "einsum",
                    fmt::format("{}equation=\"{}\"", arguments, equation)));
}

Sizes axes_but(int64_t left_out, int64_t rank) {
  Sizes axes;
  for (int64_t i = 0; i < rank; i++) {
    if (i != left_out) axes.push_back(i);
  }
  return axes;
}

// momentum of the old and the rest of the new.
Val running(Writer& w, const Val& before, const Val& now, double momentum) {
  const Val kept = w.map("mul", before, momentum);
  const Val added = w.map("mul", now, 1 - momentum);
  return w.map("add", kept, added);
}

void batch_norm(Writer& w) {
  const Val x = w.in(0);
  const Val scale = w.in(1);
  const Val bias = w.in(2);
  Val mean = w.in(3);
  Val variance = w.in(4);
  const bool is_training = w.integer("training_mode", 0) != 0;
  if (is_training) {
    const Sizes axes = axes_but(1, x.rank());
    mean = w.reduce("mean", x, axes, false);
    variance = w.reduce("var", x, axes, false, "correction=0");
  }
  w.gives(0, w.map("batch_norm", x,
                   fmt::format("{}, {}, {}, {}, eps={}", mean.name, variance.name, scale.name,
                               bias.name, w.real("epsilon", 1e-5))));
  if (!is_training) return;
  const double momentum = w.real("momentum", 0.9);
  w.gives(1, running(w, w.in(3), mean, momentum));
  w.gives(2, running(w, w.in(4), variance, momentum));
}

// A group for each channel.
void instance_norm(Writer& w) {
  const Val x = w.in(0);
  if (x.rank() < 2) return w.malformed("InstanceNormalization takes channels");
  const Val scale = w.in(1);
  const Val shift = w.in(2);
  w.gives(0, w.map("group_norm", x,
                   fmt::format("{}, {}, groups={}, eps={}", scale.name, shift.name, x.shape[1],
                               w.real("epsilon", 1e-5))));
}

// Outputs: the value, and the mean and 1 / deviation that made it.
void layer_norm(Writer& w) {
  const Val x = w.in(0);
  const double eps = w.real("epsilon", 1e-5);
  Sizes axes;
  for (int64_t i = w.axis(w.integer("axis", -1), x.rank()); i < x.rank(); i++) axes.push_back(i);
  const std::string bias = w.has(2) ? fmt::format(", {}", w.in(2).name) : "";
  w.gives(0, w.map("layer_norm", x,
                   fmt::format("{}{}, axes=[{}], eps={}", w.in(1).name, bias, listed(axes), eps)));
  if (w.source().outputs.size() == 1) return;
  w.gives(1, w.reduce("mean", x, axes, true));
  const Val variance = w.reduce("var", x, axes, true, "correction=0");
  w.gives(2, w.map("rsqrt", w.map("add", variance, eps)));
}

constexpr OpRow kNormRows[] = {
    {"BatchNormalization", batch_norm},
    {"Einsum", einsum},
    {"Gemm", gemm},
    {"InstanceNormalization", instance_norm},
    {"LayerNormalization", layer_norm},
    {"MatMul", mat_mul},
};

}  // namespace

std::span<const OpRow> norm_ops() { return kNormRows; }

}  // namespace assay::fuzz::onnx
