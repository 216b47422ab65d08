#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Placed to loads: each value that is read from storage is a LOAD of its place, with the order that
// the place has.
const uop::Pass& pm_add_loads();

}  // namespace assay::codegen
