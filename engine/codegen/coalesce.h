#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Scalar to vectors: loads of one state under one gate whose indices follow one another become the
// widest loads that the target has, and stores of one GROUP likewise. Every element that a vector
// touches was touched before, under the same gate. LOCAL vectors are aligned whatever the target
// says; registers are no memory.
const uop::Pass& coalesce();

}  // namespace assay::codegen
