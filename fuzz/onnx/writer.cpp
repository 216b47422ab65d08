#include "fuzz/onnx/writer.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "engine/tensor/program/text.h"

namespace assay::fuzz::onnx {
namespace {

using tensor::Literal;

std::string listed(const std::vector<Literal>& data) {
  std::string result = "[";
  for (const Literal& x : data) {
    if (result.size() > 1) result += ", ";
    result += tensor::to_text(x);
  }
  return result + "]";
}

// Of these sums and products are no concern.
bool is_small(int64_t x) { return -(int64_t{1} << 31) < x && x < int64_t{1} << 31; }

std::string number_text(double x) { return tensor::to_text(Literal{Literal::Kind::Float, 0, x}); }

}  // namespace

std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
  Sizes result = a.size() < b.size() ? b : a;
  const Sizes& other = a.size() < b.size() ? a : b;
  const size_t more = result.size() - other.size();
  for (size_t i = 0; i < other.size(); i++) {
    int64_t& size = result[more + i];
    if (size != other[i] && size != 1 && other[i] != 1) return std::nullopt;
    if (size == 1) size = other[i];
  }
  return result;
}

int64_t product(const Sizes& sizes, size_t begin, size_t end) {
  int64_t result = 1;
  for (size_t i = begin; i < std::min(end, sizes.size()); i++) result *= sizes[i];
  return result;
}

const Tensor* Writer::constant(size_t i) {
  if (has(i)) return &*case_.inputs[i];
  malformed(fmt::format("{} has no input {}", case_.op, i));
  return nullptr;
}

Val Writer::in(size_t i) {
  const Tensor* t = constant(i);
  if (t == nullptr) return {"none", DType::F32, {}};
  if (!inputs_[i]) {
    inputs_[i] = Val{fmt::format("x{}", i), t->type, t->shape};
    fmt::format_to(std::back_inserter(statements_), "x{}: {}[{}] = input(data={})\n", i,
                   uop::to_text(t->type), listed(t->shape), listed(t->data));
  }
  return *inputs_[i];
}

Sizes Writer::integers(size_t i) {
  Sizes result = any_integers(i);
  if (std::ranges::all_of(result, is_small)) return result;
  malformed(fmt::format("input {} holds numbers past 31 bits", i));
  return {};
}

Sizes Writer::any_integers(size_t i) {
  const Tensor* t = constant(i);
  if (t == nullptr) return {};
  const auto result = t->integers();
  if (!result) malformed(fmt::format("input {} holds no whole numbers", i));
  return result.value_or(Sizes{});
}

Literal Writer::scalar(size_t i) {
  const Tensor* t = constant(i);
  if (t == nullptr || t->data.size() == 1) return t == nullptr ? Literal{} : t->data[0];
  malformed(fmt::format("input {} is no single number", i));
  return {};
}

int64_t Writer::integer(std::string_view name, int64_t fallback) {
  const auto at = case_.attrs.find(name);
  if (at == case_.attrs.end()) return fallback;
  if (at->is_number_integer() && is_small(at->get<int64_t>())) return at->get<int64_t>();
  malformed(fmt::format("{} is no whole number of 31 bits", name));
  return fallback;
}

double Writer::real(std::string_view name, double fallback) {
  const auto at = case_.attrs.find(name);
  if (at == case_.attrs.end()) return fallback;
  if (at->is_number()) return at->get<double>();
  malformed(fmt::format("{} is no number", name));
  return fallback;
}

std::string Writer::text(std::string_view name, std::string_view fallback) {
  const auto at = case_.attrs.find(name);
  if (at == case_.attrs.end()) return std::string(fallback);
  if (at->is_string()) return at->get<std::string>();
  malformed(fmt::format("{} is no text", name));
  return std::string(fallback);
}

std::optional<Sizes> Writer::list(std::string_view name) {
  const auto at = case_.attrs.find(name);
  if (at == case_.attrs.end()) return std::nullopt;
  Sizes result;
  const bool is_list = at->is_array() && std::ranges::all_of(*at, [](const auto& x) {
                         return x.is_number_integer() && is_small(x.template get<int64_t>());
                       });
  if (!is_list) {
    malformed(fmt::format("{} is no list of whole numbers of 31 bits", name));
    return std::nullopt;
  }
  for (const auto& x : *at) result.push_back(x.template get<int64_t>());
  return result;
}

int64_t Writer::axis(int64_t axis, int64_t rank) {
  if (-rank <= axis && axis < rank) return axis < 0 ? axis + rank : axis;
  malformed(fmt::format("axis {} of rank {}", axis, rank));
  return 0;
}

Val Writer::emit(DType type, Sizes shape, std::string_view op, std::string_view arguments) {
  Val result = {fmt::format("t{}", values_++), type, std::move(shape)};
  fmt::format_to(std::back_inserter(statements_), "{}: {}[{}] = {}({})\n", result.name,
                 uop::to_text(type), onnx::listed(result.shape), op, arguments);
  return result;
}

Val Writer::map(std::string_view op, const Val& x, std::string_view attributes) {
  return emit(x.type, x.shape, op,
              fmt::format("{}{}{}", x.name, attributes.empty() ? "" : ", ", attributes));
}

Val Writer::map(std::string_view op, const Val& x, const Val& y) {
  const auto shape = broadcast(x.shape, y.shape);
  if (!shape) malformed(fmt::format("[{}] and [{}]", onnx::listed(x.shape), onnx::listed(y.shape)));
  return emit(x.type, shape.value_or(x.shape), op, fmt::format("{}, {}", x.name, y.name));
}

Val Writer::map(std::string_view op, const Val& x, double number) {
  return map(op, x, number_text(number));
}

Val Writer::compare(std::string_view op, const Val& x, const Val& y) {
  const auto shape = broadcast(x.shape, y.shape);
  if (!shape) malformed(fmt::format("[{}] and [{}]", onnx::listed(x.shape), onnx::listed(y.shape)));
  return emit(DType::Bool, shape.value_or(x.shape), op, fmt::format("{}, {}", x.name, y.name));
}

Val Writer::cast(const Val& x, DType type) {
  return x.type == type ? x : emit(type, x.shape, "cast", x.name);
}

Val Writer::reshape(const Val& x, Sizes shape) {
  if (x.shape == shape) return x;
  return emit(x.type, std::move(shape), "reshape", x.name);
}

Val Writer::permute(const Val& x, const Sizes& order) {
  Sizes shape;
  for (const int64_t i : order) {
    shape.push_back(x.size(axis(i, x.rank())));
  }
  return emit(x.type, shape, "permute", fmt::format("{}, order=[{}]", x.name, onnx::listed(order)));
}

Val Writer::slice(const Val& x, int64_t axis, int64_t begin, int64_t end) {
  std::string at;
  for (int64_t i = 0; i < axis; i++) at += ":, ";
  return emit(x.type, x.with(axis, end - begin), "slice",
              fmt::format("{}, at=[{}{}:{}]", x.name, at, begin, end));
}

Val Writer::reduce(std::string_view op, const Val& x, const Sizes& axes, bool keep,
                   std::string_view attributes) {
  std::vector<bool> is_reduced(x.shape.size(), false);
  for (const int64_t i : axes) {
    if (!x.shape.empty()) is_reduced[static_cast<size_t>(axis(i, x.rank()))] = true;
  }
  Sizes shape;
  for (size_t i = 0; i < x.shape.size(); i++) {
    if (!is_reduced[i]) shape.push_back(x.shape[i]);
    if (is_reduced[i] && keep) shape.push_back(1);
  }
  return emit(x.type, shape, op,
              fmt::format("{}, axes=[{}]{}{}{}", x.name, onnx::listed(axes),
                          keep ? ", keep=true" : "", attributes.empty() ? "" : ", ", attributes));
}

void Writer::gives(size_t output, const Val& x) {
  if (output != given_ || output >= case_.outputs.size()) return;
  const Tensor& wanted = case_.outputs[output];
  if (x.shape != wanted.shape) {
    malformed(fmt::format("\"outputs\" {} has shape [{}], {} gives [{}]", output,
                          onnx::listed(wanted.shape), case_.op, onnx::listed(x.shape)));
  }
  const Val result = cast(x, wanted.type);
  fmt::format_to(std::back_inserter(expected_), "expect {} = {}\n", result.name,
                 listed(wanted.data));
  given_++;
}

void Writer::cannot(std::string reason) {
  if (!reason_) reason_ = std::move(reason);
}

void Writer::malformed(std::string what) {
  if (!error_) error_ = Error{std::move(what)};
}

std::string Writer::finish() {
  if (given_ < case_.outputs.size()) {
    malformed(fmt::format("{} has no output {}", case_.op, given_));
  }
  return fmt::format("tp 1\n# {}: {} of opset {}\n{}{}", case_.name, case_.op, case_.opset,
                     statements_, expected_);
}

}  // namespace assay::fuzz::onnx
