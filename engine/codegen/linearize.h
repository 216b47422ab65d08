#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// The list of instructions: a topological order in which all that depends on a RANGE stands between
// it and its END, and all else outside. Sibling loops follow their dependencies. Within a block
// nodes keep the order of the toposort, but reads of memory start a little ahead of their use, and
// gated stores wait for the end of the block, so that those of one gate share an IF.
const uop::Pass& linearize();

}  // namespace assay::codegen
