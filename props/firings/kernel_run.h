#pragma once

#include "props/firings/scalar.h"

namespace assay::props {

// Whether two nodes of a kernel do the same: effects, storage after effects, or values. Each is
// made a kernel of its own, in which all loops around it are closed and what it leaves in LOCAL
// storage and registers, or its value, is stored to a new parameter for each work-item; of SPECIALs
// there are two groups along each axis, which differ in all that groups differ in. The interpreter
// runs both on random numbers, in both orders of what nothing orders; then the
// work-group machine runs what has LOCAL storage, where the second may race, read what nobody wrote
// or diverge only where the first does: the interpreter is blind to barriers.
Outcome judge_kernels(uop::Graph& g, uop::Ref before, uop::Ref after, Context& context);

}  // namespace assay::props
