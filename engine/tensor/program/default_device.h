#pragma once

#include <string_view>

namespace assay::tensor {

// Where a source is whose text does not say. A session may put all that is there elsewhere.
inline constexpr std::string_view kDefaultDevice = "sim:0";

}  // namespace assay::tensor
