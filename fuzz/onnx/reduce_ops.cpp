#include <algorithm>
#include <numeric>
#include <string>

#include "fuzz/onnx/onnx.h"

namespace assay::fuzz::onnx {
namespace {

// An operator is one function of each element, a reduce, and one function of the result.
struct ReduceRow {
  std::string_view op;
  std::string_view before;
  std::string_view reduce;
  std::string_view after;
};
constexpr ReduceRow kReduces[] = {
    {"ReduceL1", "abs", "sum", ""},     {"ReduceL2", "square", "sum", "sqrt"},
    {"ReduceLogSum", "", "sum", "log"}, {"ReduceLogSumExp", "", "logsumexp", ""},
    {"ReduceMax", "", "max", ""},       {"ReduceMean", "", "mean", ""},
    {"ReduceMin", "", "min", ""},       {"ReduceProd", "", "prod", ""},
    {"ReduceSum", "", "sum", ""},       {"ReduceSumSquare", "square", "sum", ""},
};

// Sums and products of narrow integers are at the type they accumulate in, which ONNX leaves at the
// operand's.
std::string accumulated(const Val& x, std::string_view reduce) {
  const bool accumulates = reduce == "sum" || reduce == "prod";
  if (!accumulates || uop::is_float(x.type)) return "";
  return fmt::format("acc={}", uop::to_text(x.type));
}

void reduce(Writer& w) {
  const auto* row = std::ranges::find(kReduces, w.source().op, &ReduceRow::op);
  Val x = w.in(0);
  Sizes axes = w.list("axes").value_or(Sizes{});
  if (w.has(1)) axes = w.integers(1);
  if (axes.empty() && w.integer("noop_with_empty_axes", 0) == 0) {
    axes.resize(x.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (!row->before.empty()) x = w.map(row->before, x);
  const bool keep = w.integer("keepdims", 1) != 0;
  Val y = w.reduce(row->reduce, x, axes, keep, accumulated(x, row->reduce));
  if (!row->after.empty()) y = w.map(row->after, y);
  w.gives(0, y);
}

void arg_extreme(Writer& w) {
  const Val x = w.in(0);
  const int64_t axis = w.axis(w.integer("axis", 0), x.rank());
  const bool keep = w.integer("keepdims", 1) != 0;
  const bool last = w.integer("select_last_index", 0) != 0;
  Sizes shape = keep ? x.with(axis, 1) : x.shape;
  if (!shape.empty() && !keep) shape.erase(shape.begin() + axis);
  w.gives(0, w.emit(DType::I32, shape, w.source().op == "ArgMax" ? "argmax" : "argmin",
                    fmt::format("{}, axis={}, keep={}, last={}", x.name, axis, keep, last)));
}

void softmax(Writer& w) {
  if (w.source().opset < 13) return w.cannot("before opset 13 it flattens axes");
  const Val x = w.in(0);
  const int64_t axis = w.integer("axis", -1);
  w.gives(0, w.map(w.source().op == "Softmax" ? "softmax" : "log_softmax", x,
                   fmt::format("axis={}", axis)));
}

// An exclusive sum is the sum of what is moved one place on, a zero in front.
void cum_sum(Writer& w) {
  Val x = w.in(0);
  const Sizes axes = w.integers(1);
  const int64_t axis = w.axis(axes.empty() ? 0 : axes[0], x.rank());
  const std::string backwards = fmt::format("axes=[{}]", axis);
  const bool is_reversed = w.integer("reverse", 0) != 0;
  if (is_reversed) x = w.map("flip", x, backwards);
  if (w.integer("exclusive", 0) != 0 && !x.shape.empty()) {
    const int64_t n = x.size(axis);
    Sizes low(x.shape.size(), 0);
    const Sizes high = low;
    low[static_cast<size_t>(axis)] = 1;
    const Sizes shape = x.shape;
    const Val front = w.slice(x, axis, 0, std::max<int64_t>(n - 1, 0));
    x = w.emit(x.type, shape, "pad",
               fmt::format("{}, low=[{}], high=[{}]", front.name, listed(low), listed(high)));
  }
  const std::string acc = accumulated(x, "sum");
  Val y = w.map("cumsum", x, fmt::format("axis={}{}{}", axis, acc.empty() ? "" : ", ", acc));
  if (is_reversed) y = w.map("flip", y, backwards);
  w.gives(0, y);
}

// Two outputs: the values and where they stand.
void top_k(Writer& w) {
  const Val x = w.in(0);
  const Sizes ks = w.integers(1);
  const int64_t k = ks.empty() ? 0 : ks[0];
  const int64_t axis = w.axis(w.integer("axis", -1), x.rank());
  const bool largest = w.integer("largest", 1) != 0;
  const Sizes shape = x.with(axis, k);
  const std::string arguments =
      fmt::format("{}, k={}, axis={}, largest={}", x.name, k, axis, largest);
  w.gives(0, w.emit(x.type, shape, "topk", arguments));
  w.gives(1, w.emit(DType::I32, shape, "argtopk", arguments));
}

constexpr OpRow kOtherReduceRows[] = {
    {"ArgMax", arg_extreme}, {"ArgMin", arg_extreme}, {"CumSum", cum_sum},
    {"LogSoftmax", softmax}, {"Softmax", softmax},    {"TopK", top_k},
};

}  // namespace

std::span<const OpRow> reduce_ops() {
  static const std::vector<OpRow> rows = [] {
    std::vector<OpRow> all(std::begin(kOtherReduceRows), std::end(kOtherReduceRows));
    for (const ReduceRow& r : kReduces) all.push_back({r.op, reduce});
    return all;
  }();
  return rows;
}

}  // namespace assay::fuzz::onnx
