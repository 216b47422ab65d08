#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Floats that the target does not compute in (e4m3, e5m2, f16, bf16) are computed in f32, each
// result rounded to its type at once: exactly what engine/uop/README.md says of them. Storage of a
// type that the target can load and store keeps it, between CASTs, but where the kernel moves what
// it holds as it is: a CAST may change which NaN it is. Else its bits are held in u8 or u16, and so
// they are in LOCAL storage, of which few languages have arrays of halves. Registers hold f32.
//
// An error names a type that the target neither has nor can be made to have, and where it is used.
const uop::Pass& dtype_emulation();

}  // namespace assay::codegen
