#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Each term of type `index` becomes one of i32 where the bounds of it and of all that it is
// computed from stay within 32 bits, else one of i64. Casts stand where the two meet, and where
// integers of values become indices. What is computed in another type stays there.
const uop::Pass& index_width();

}  // namespace assay::codegen
