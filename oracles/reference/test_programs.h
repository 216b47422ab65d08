#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "oracles/reference/reference.h"

namespace assay::reference {

// The outputs of a program, "tp 1" put before it.
Result<std::vector<Array>> evaluated(std::string_view program);

// An array as its elements say it: an exact one as it is written in a program, what lies in a bound
// by its value and "~", "?" where it is ambiguous, "_" where it is unspecified.
std::string to_text(const Array& array);

// What is wrong with a program whose every output is expected, or "": each `expect` must hold of
// the value there: exact elements bit by bit, others within their bound.
std::string judged(std::string_view program);

// "line: message", or "no error".
std::string error_of(std::string_view program);

}  // namespace assay::reference
