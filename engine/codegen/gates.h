#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Lowered to gated: the gate of an index becomes that of its LOAD or STORE, and INVALID is gone. A
// LOAD without its gate is its alternative: the constant that a select on the same gate would pick,
// which is then dropped, else zero. Of a vector each lane is the alternative.
const uop::Pass& move_gates();

}  // namespace assay::codegen
