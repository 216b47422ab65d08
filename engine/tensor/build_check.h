#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/tensor/build.h"

namespace assay::tensor {

// The statements of a program built one after the other: inputs are PARAMs, numbered by statement,
// whose contents need not be said.
struct BuiltProgram {
  Program program;
  std::vector<Ref> nodes;  // by statement; null where there is none
};
Result<BuiltProgram> build_all(Graph& g, std::string_view text);

// The node of the last statement of a text, "tp 1" left out. What is below it is well formed, and
// of a view, movement and BITCAST over its operand; else the test fails.
Ref built(Graph& g, std::string_view text);

// The message of the error that building a text gives; "" where there is none.
std::string build_error(std::string_view text);

}  // namespace assay::tensor
