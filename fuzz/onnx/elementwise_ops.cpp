#include <algorithm>
#include <cmath>
#include <string>

#include "fuzz/onnx/onnx.h"

namespace assay::fuzz::onnx {
namespace {

struct UnaryRow {
  std::string_view op;
  std::string_view ours;
};
constexpr UnaryRow kUnary[] = {
    {"Abs", "abs"},
    {"Acos", "acos"},
    {"Acosh", "acosh"},
    {"Asin", "asin"},
    {"Asinh", "asinh"},
    {"Atan", "atan"},
    {"Atanh", "atanh"},
    {"Ceil", "ceil"},
    {"Cos", "cos"},
    {"Cosh", "cosh"},
    {"Erf", "erf"},
    {"Exp", "exp"},
    {"Floor", "floor"},
    {"HardSwish", "hard_swish"},
    {"Identity", "contiguous"},
    {"Log", "log"},
    {"Neg", "neg"},
    {"Not", "not"},
    {"Reciprocal", "recip"},
    {"Relu", "relu"},
    {"Round", "round"},
    {"Sigmoid", "sigmoid"},
    {"Sign", "sign"},
    {"Sin", "sin"},
    {"Sinh", "sinh"},
    {"Softplus", "softplus"},
    {"Softsign", "softsign"},
    {"Sqrt", "sqrt"},
    {"Tan", "tan"},
    {"Tanh", "tanh"},
};

struct BinaryRow {
  std::string_view op;
  std::string_view ours;
};
constexpr BinaryRow kBinary[] = {
    {"Add", "add"}, {"And", "and"}, {"Mul", "mul"}, {"Or", "or"}, {"Sub", "sub"}, {"Xor", "xor"},
};
constexpr BinaryRow kCompare[] = {
    {"Equal", "eq"}, {"Greater", "gt"},     {"GreaterOrEqual", "ge"},
    {"Less", "lt"},  {"LessOrEqual", "le"},
};
constexpr BinaryRow kFolds[] = {
    {"Max", "maximum"},
    {"Mean", "add"},
    {"Min", "minimum"},
    {"Sum", "add"},
};

template <size_t n>
std::string_view ours(const BinaryRow (&rows)[n], std::string_view op) {
  return std::ranges::find(rows, op, &BinaryRow::op)->ours;
}

void unary(Writer& w) {
  const auto* row = std::ranges::find(kUnary, w.source().op, &UnaryRow::op);
  w.gives(0, w.map(row->ours, w.in(0)));
}

// Operands are named as they are asked for: one after the other.
void binary(Writer& w) {
  const Val x = w.in(0);
  const Val y = w.in(1);
  w.gives(0, w.map(ours(kBinary, w.source().op), x, y));
}

void compare(Writer& w) {
  const Val x = w.in(0);
  const Val y = w.in(1);
  w.gives(0, w.compare(ours(kCompare, w.source().op), x, y));
}

// Of any number of inputs.
void fold(Writer& w) {
  Val x = w.in(0);
  for (size_t i = 1; i < w.source().inputs.size(); i++) {
    x = w.map(ours(kFolds, w.source().op), x, w.in(i));
  }
  const auto count = static_cast<double>(w.source().inputs.size());
  w.gives(0, w.source().op == "Mean" ? w.map("div", x, count) : x);
}

void celu(Writer& w) {
  w.gives(0, w.map("celu", w.in(0), fmt::format("alpha={}", w.real("alpha", 1))));
}
void elu(Writer& w) {
  w.gives(0, w.map("elu", w.in(0), fmt::format("alpha={}", w.real("alpha", 1))));
}
void leaky_relu(Writer& w) {
  w.gives(0, w.map("leaky_relu", w.in(0), fmt::format("alpha={}", w.real("alpha", 0.01))));
}
void selu(Writer& w) {
  const double alpha = w.real("alpha", 1.67326319217681884765625);
  const double gamma = w.real("gamma", 1.05070102214813232421875);
  w.gives(0, w.map("selu", w.in(0), fmt::format("alpha={}, gamma={}", alpha, gamma)));
}
void hard_sigmoid(Writer& w) {
  const double alpha = w.real("alpha", 0.2);
  const double beta = w.real("beta", 0.5);
  w.gives(0, w.map("hard_sigmoid", w.in(0), fmt::format("alpha={}, beta={}", alpha, beta)));
}

void prelu(Writer& w) {
  const Val x = w.in(0);
  const Val scaled = w.map("mul", x, w.in(1));
  const Val below = w.emit(DType::Bool, x.shape, "lt", fmt::format("{}, 0", x.name));
  w.gives(0, w.emit(x.type, x.shape, "where",
                    fmt::format("{}, {}, {}", below.name, scaled.name, x.name)));
}

void thresholded_relu(Writer& w) {
  const Val x = w.in(0);
  const double alpha = w.real("alpha", 1);
  const Val above = w.emit(DType::Bool, x.shape, "gt", fmt::format("{}, {}", x.name, alpha));
  w.gives(0, w.emit(x.type, x.shape, "where", fmt::format("{}, {}, 0", above.name, x.name)));
}

void clip(Writer& w) {
  const Val x = w.in(0);
  const std::string lo = w.has(1) ? w.in(1).name : "none";
  const std::string hi = w.has(2) ? w.in(2).name : "none";
  w.gives(0, w.emit(x.type, x.shape, "clip", fmt::format("{}, {}, {}", x.name, lo, hi)));
}

void is_inf(Writer& w) {
  const Val x = w.in(0);
  const bool negative = w.integer("detect_negative", 1) != 0;
  const bool positive = w.integer("detect_positive", 1) != 0;
  w.gives(0, w.emit(DType::Bool, x.shape, "isinf",
                    fmt::format("{}, positive={}, negative={}", x.name, positive, negative)));
}

void is_nan(Writer& w) {
  const Val x = w.in(0);
  w.gives(0, w.emit(DType::Bool, x.shape, "isnan", x.name));
}

void div(Writer& w) {
  const Val x = w.in(0);
  w.gives(0, w.map(uop::is_float(x.type) ? "div" : "tdiv", x, w.in(1)));
}

void mod(Writer& w) {
  const Val x = w.in(0);
  const bool of_first = w.integer("fmod", 0) != 0;  // the sign of the result
  const std::string_view of_integers = of_first ? "tmod" : "mod";
  w.gives(0, w.map(uop::is_float(x.type) ? "fmod" : of_integers, x, w.in(1)));
}

// The result has the type of the base. An integer to a float power is an integer power where the
// exponents are whole; otherwise what is cut is a rounded number, and no judge can tell 8 from 7.
void pow(Writer& w) {
  const Val x = w.in(0);
  const Val y = w.in(1);
  const Tensor* exponents = w.constant(1);
  if (uop::is_float(y.type) && !uop::is_float(x.type)) {
    if (exponents != nullptr && !exponents->integers()) return w.cannot("roots of integers");
  }
  w.gives(0, w.map("pow", x, w.cast(y, x.type)));
}

void bit_shift(Writer& w) {
  const Val x = w.in(0);
  const Val y = w.in(1);
  w.gives(0, w.map(w.text("direction", "") == "LEFT" ? "shl" : "shr", x, y));
}

void where(Writer& w) {
  const Val c = w.in(0);
  const Val x = w.in(1);
  const Val y = w.in(2);
  const auto branches = broadcast(x.shape, y.shape);
  const auto shape = broadcast(c.shape, branches.value_or(x.shape));
  w.gives(0, w.emit(x.type, shape.value_or(x.shape), "where",
                    fmt::format("{}, {}, {}", c.name, x.name, y.name)));
}

// What the attribute `to` counts.
DType type_of(int64_t to) {
  constexpr DType kTypes[] = {DType::Void, DType::F32, DType::U8,  DType::I8,   DType::U16,
                              DType::I16,  DType::I32, DType::I64, DType::Void, DType::Bool,
                              DType::F16,  DType::F64, DType::U32, DType::U64,  DType::Void,
                              DType::Void, DType::BF16};
  const bool is_known = 0 <= to && to < static_cast<int64_t>(std::size(kTypes));
  return is_known ? kTypes[static_cast<size_t>(to)] : DType::Void;
}

// The cases hold bf16 as the u16 of the same bits, and only the name tells.
void cast(Writer& w) {
  Val x = w.in(0);
  const DType to = type_of(w.integer("to", 0));
  if (to == DType::Void) return w.cannot("to a type that is none here");
  const std::string& name = w.source().name;
  if (x.type == DType::U16 && name.find("BFLOAT16_to") != std::string::npos) {
    x = w.emit(DType::BF16, x.shape, "bitcast", x.name);
  }
  w.gives(0, w.emit(to, x.shape, "cast", x.name));
}

constexpr OpRow kOtherElementwiseRows[] = {
    {"BitShift", bit_shift},
    {"Cast", cast},
    {"Celu", celu},
    {"Clip", clip},
    {"Div", div},
    {"Elu", elu},
    {"HardSigmoid", hard_sigmoid},
    {"IsInf", is_inf},
    {"IsNaN", is_nan},
    {"LeakyRelu", leaky_relu},
    {"Mod", mod},
    {"PRelu", prelu},
    {"Pow", pow},
    {"Selu", selu},
    {"ThresholdedRelu", thresholded_relu},
    {"Where", where},
};

}  // namespace

std::span<const OpRow> elementwise_ops() {
  static const std::vector<OpRow> rows = [] {
    std::vector<OpRow> all(std::begin(kOtherElementwiseRows), std::end(kOtherElementwiseRows));
    for (const UnaryRow& r : kUnary) all.push_back({r.op, unary});
    for (const BinaryRow& r : kBinary) all.push_back({r.op, binary});
    for (const BinaryRow& r : kCompare) all.push_back({r.op, compare});
    for (const BinaryRow& r : kFolds) all.push_back({r.op, fold});
    return all;
  }();
  return rows;
}

}  // namespace assay::fuzz::onnx
