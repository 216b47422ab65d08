#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Expanded to reduced (README.md): no REDUCE is left.
const uop::Pass& pm_reduce_local();

}  // namespace assay::codegen
