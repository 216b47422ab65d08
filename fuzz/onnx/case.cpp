#include "fuzz/onnx/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/uop/value.h"

namespace assay::fuzz::onnx {
namespace {

using Json = nlohmann::ordered_json;
using tensor::Literal;

constexpr int64_t kMostElements = int64_t{1} << 24;

struct TypeRow {
  std::string_view name;
  DType type;
};
constexpr TypeRow kElementTypes[] = {
    {"bool", DType::Bool},   {"int8", DType::I8},       {"uint8", DType::U8},
    {"int16", DType::I16},   {"uint16", DType::U16},    {"int32", DType::I32},
    {"uint32", DType::U32},  {"int64", DType::I64},     {"uint64", DType::U64},
    {"float16", DType::F16}, {"bfloat16", DType::BF16}, {"float32", DType::F32},
    {"float64", DType::F64},
};

std::optional<Literal> literal_from_json(const Json& json) {
  if (json.is_boolean()) return Literal{Literal::Kind::Bool, json.get<bool>() ? 1 : 0, 0};
  if (json.is_number_unsigned()) return Literal{Literal::Kind::Int, json.get<uint64_t>(), 0};
  if (json.is_number_integer()) return Literal{Literal::Kind::Int, json.get<int64_t>(), 0};
  if (json.is_number_float()) return Literal{Literal::Kind::Float, 0, json.get<double>()};
  if (!json.is_string()) return std::nullopt;
  const auto& text = json.get_ref<const std::string&>();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (text == "nan") return Literal{Literal::Kind::Float, 0, std::nan("")};
  if (text == "inf") return Literal{Literal::Kind::Float, 0, kInf};
  if (text == "-inf") return Literal{Literal::Kind::Float, 0, -kInf};
  return std::nullopt;
}

Result<Sizes> shape_from_json(const Json& json) {
  if (!json.is_array()) return Error{"its shape is no list"};
  Sizes shape;
  for (const Json& size : json) {
    if (!size.is_number_integer() || size.get<int64_t>() < 0) {
      return Error{fmt::format("its shape holds {}", size.dump())};
    }
    shape.push_back(size.get<int64_t>());
  }
  return shape;
}

int64_t count_of(const Sizes& shape) {
  int64_t count = 1;
  for (const int64_t n : shape) {
    if (n != 0 && count > kMostElements / n) return kMostElements + 1;
    count *= n;
  }
  return count;
}

Result<Tensor> tensor_from_json(const Json& json) {
  if (!json.is_object()) return Error{"it is no object"};
  for (const char* field : {"dtype", "shape", "data"}) {
    if (!json.contains(field)) return Error{fmt::format("it has no \"{}\"", field)};
  }
  const Json& name = json["dtype"];
  const auto* type = std::ranges::find_if(
      kElementTypes, [&](const TypeRow& row) { return name.is_string() && name == row.name; });
  if (type == std::end(kElementTypes)) return Error{fmt::format("its dtype is {}", name.dump())};
  ASSAY_TRY(shape, shape_from_json(json["shape"]));
  const Json& data = json["data"];
  const int64_t count = count_of(shape);
  if (!data.is_array() || count != static_cast<int64_t>(data.size())) {
    return Error{fmt::format("its data are no list of {} elements", count)};
  }
  Tensor result = {type->type, std::move(shape), {}};
  for (const Json& element : data) {
    const auto literal = literal_from_json(element);
    const auto bits = literal ? tensor::bits_at(*literal, type->type) : std::nullopt;
    if (!bits) return Error{fmt::format("{} is no {}", element.dump(), type->name)};
    result.data.push_back(tensor::literal_of(*bits, type->type));
  }
  return result;
}

Error in_field(std::string_view field, size_t place, const Error& error) {
  return Error{fmt::format("\"{}\" {}: {}", field, place, error.message)};
}

// A name becomes that of a file.
bool is_file_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

Result<std::string> word(const Json& json, const char* field) {
  if (!json.contains(field) || !json[field].is_string()) {
    return Error{fmt::format("\"{}\" is no text", field)};
  }
  const auto& text = json[field].get_ref<const std::string&>();
  if (!is_file_name(text)) return Error{fmt::format("\"{}\" is {}", field, assay::quoted(text))};
  return text;
}

Result<bool> read_tensors(const Json& json, Case& result) {
  for (const char* field : {"inputs", "outputs"}) {
    if (!json.contains(field) || !json[field].is_array()) {
      return Error{fmt::format("\"{}\" is no list", field)};
    }
  }
  for (const Json& input : json["inputs"]) {
    auto& place = result.inputs.emplace_back();
    if (input.is_null()) continue;
    auto tensor = tensor_from_json(input);
    if (!tensor.ok()) return in_field("inputs", result.inputs.size() - 1, tensor.error());
    place = std::move(tensor).value();
  }
  for (const Json& output : json["outputs"]) {
    auto tensor = tensor_from_json(output);
    if (!tensor.ok()) return in_field("outputs", result.outputs.size(), tensor.error());
    result.outputs.push_back(std::move(tensor).value());
  }
  if (result.outputs.empty()) return Error{"\"outputs\" is empty"};
  return true;
}

}  // namespace

std::optional<Sizes> Tensor::integers() const {
  Sizes result;
  for (const Literal& x : data) {
    const auto bits = tensor::bits_at(x, DType::I64);
    if (!bits) return std::nullopt;
    result.push_back(static_cast<int64_t>(*bits));
  }
  return result;
}

Result<Case> case_from_json(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Error{"the line is no JSON object"};
  Case result;
  ASSAY_TRY(name, word(json, "name"));
  ASSAY_TRY(op, word(json, "op"));
  result.name = std::move(name);
  result.op = std::move(op);
  if (!json.contains("opset") || !json["opset"].is_number_integer()) {
    return Error{"\"opset\" is no number"};
  }
  result.opset = json["opset"].get<int64_t>();
  if (!json.contains("attrs") || !json["attrs"].is_object()) return Error{"\"attrs\" is no object"};
  result.attrs = json["attrs"];
  ASSAY_TRY(read, read_tensors(json, result));
  (void)read;
  return result;
}

}  // namespace assay::fuzz::onnx
