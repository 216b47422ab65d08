#pragma once

#include <string_view>

namespace assay::tensor {

// Where a source is whose text does not say.
inline constexpr std::string_view kDefaultDevice = "sim:0";

}  // namespace assay::tensor
