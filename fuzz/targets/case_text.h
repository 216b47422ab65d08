#pragma once

#include <optional>
#include <string_view>

#include "fuzz/trial/case.h"

namespace assay::fuzz {

// The case of a text, as targets over program text take it: on a simulated device, and small enough
// to be tried often. Nothing where the text is no such case.
std::optional<Case> case_to_try(std::string_view text);

// What the custom mutators keep to.
inline constexpr size_t kMostStatementsTried = 48;
inline constexpr int64_t kMostElementsTried = 256;

}  // namespace assay::fuzz
