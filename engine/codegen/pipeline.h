#pragma once

#include <span>

#include "engine/uop/pass.h"

namespace assay::codegen {

// The passes from a kernel of the schedule to a LINEAR, in order.
std::span<const uop::Pass* const> pipeline();

// The first of them, which simplify a kernel for any target and may change what axes it has. They
// leave a kernel alone that has a list of opts, which counts the axes of the kernel it stands by.
std::span<const uop::Pass* const> early_passes();

// The last of them, from a gated kernel to its LINEAR.
std::span<const uop::Pass* const> late_passes();

// The LINEAR of a kernel for the run's target (README.md, Forms). An error says what of the kernel
// the target cannot do, or which opt is illegal.
Result<uop::Ref> lower(uop::Run& run, uop::Ref kernel);

}  // namespace assay::codegen
