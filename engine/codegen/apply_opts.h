#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Splits the ranges of a kernel as the list beside its name says, and makes each range that an END
// closes a GLOBAL one (README.md, Opts; tiled form). No list is an empty one. An error names the
// kernel, the opt and what it breaks.
const uop::Pass& apply_opts();

}  // namespace assay::codegen
