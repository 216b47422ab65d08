#pragma once

#include "props/firings/scalar.h"

namespace assay::props {

// Whether a kernel and what a pass made of it leave the same in their parameters: run by the
// interpreter on `inputs` inputs of small numbers and several values of variables, in both orders
// of what nothing orders; the second, where it is a LINEAR, by the work-group machine. Floats are
// equal unless numbers on the way are rounded.
Outcome judge_kernel_runs(uop::Graph& g, uop::Ref before, uop::Ref after, int inputs,
                          Context& context);

}  // namespace assay::props
