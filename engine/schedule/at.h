#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::schedule {

// Calls, buffers and blocks are numbered by int32_t, of which -1 is none.
inline size_t at(int32_t i) { return static_cast<size_t>(i); }

}  // namespace assay::schedule
