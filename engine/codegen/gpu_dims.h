#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// No stages to placed (README.md): ranges of type GLOBAL are axes of the launch's groups, those of
// type LOCAL, WARP and GROUP_REDUCE axes of a group's items, within the target's limits. A store to
// GLOBAL or LOCAL storage that several of them would repeat is left to the first. An error says how
// many groups or items there are and what the target takes.
const uop::Pass& add_gpu_dims();

}  // namespace assay::codegen
