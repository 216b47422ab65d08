#pragma once

#include <string>
#include <string_view>

#include "engine/tensor/program/text.h"

namespace assay::tensor {

// The canonical text of a text, or the error that it has.
inline std::string read_and_print(std::string_view text) {
  const auto program = from_text(text);
  return program.ok() ? to_text(program.value()) : to_string(program.error());
}

inline constexpr std::string_view kFour = R"(tp 1
var n in 1..16 = 5
a: f32[4, n] = input(random=normal)
b: f32[4, n] = input(random=normal)
c: f32[4, n] = input(random=normal)
d: f32[4, n] = input(random=normal)
)";

}  // namespace assay::tensor
