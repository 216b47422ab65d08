#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Reduced to "no stages" (README.md): each STAGE is a LOCAL buffer of its own number, the STORE of
// all its elements, and an AFTER that orders what reads them.
const uop::Pass& pm_add_local_buffers();

}  // namespace assay::codegen
