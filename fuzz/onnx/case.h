#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/result.h"
#include "engine/tensor/program/program.h"

namespace assay::fuzz::onnx {

using tensor::DType;
using Sizes = std::vector<int64_t>;

struct Tensor {
  DType type = DType::Void;
  Sizes shape;
  std::vector<tensor::Literal> data;  // row-major, an element each

  // The elements as whole numbers; nothing where one is none.
  std::optional<Sizes> integers() const;
};

// One test of one operator: what goes in, and what comes out.
struct Case {
  std::string name;
  std::string op;
  int64_t opset = 0;
  nlohmann::ordered_json attrs;
  std::vector<std::optional<Tensor>> inputs;  // nothing where an optional one is left out
  std::vector<Tensor> outputs;
};

// One line of a file of cases: a JSON object. An error says what is wrong with it.
Result<Case> case_from_json(std::string_view line);

}  // namespace assay::fuzz::onnx
