#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/result.h"
#include "engine/uop/uop.h"

namespace assay::runtime {

// Values of variables, by name.
using Variables = std::span<const std::pair<std::string, int64_t>>;
const int64_t* find_variable(Variables variables, std::string_view name);

// The value of a size: a scalar term over variables, or over BINDs, which have theirs with them. An
// error names the one without a value, or what is no term.
Result<int64_t> size_value(uop::Graph& g, uop::Ref size, Variables variables);

}  // namespace assay::runtime
