#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Loads to scalar: each value of a shape becomes its lanes, one scalar term each, in row-major
// order. Operands broadcast, movements only say which lane is meant; a store of lanes is a GROUP of
// stores. Buffers have one axis afterwards, indexed by one canonical term. An error names the node
// whose sources do not have its shape.
const uop::Pass& devectorize();

}  // namespace assay::codegen
