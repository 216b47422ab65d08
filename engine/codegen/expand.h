#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Tiled to expanded (README.md): ranges of type UPCAST and UNROLL become axes of one common shape,
// so that what depends on them is computed for all lanes at once, and a fold over them is one over
// axes.
const uop::Pass& expander();

}  // namespace assay::codegen
