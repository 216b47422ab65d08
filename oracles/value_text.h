#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/uop/dtype.h"

namespace assay::oracles {

// "f32[3] [1, 2.5, nan]": elements in row-major order, the first of many.
std::string value_text(uop::DType dtype, std::span<const int64_t> shape,
                       std::span<const std::byte> bytes);

}  // namespace assay::oracles
