#pragma once

#include "props/firings/scalar.h"

namespace assay::props {

// Whether two nodes of a tensor or kernel graph denote the same elements: values, states, or
// STOREs, whose states are compared. Both are evaluated by the interpreter on random numbers in
// their storage and for several values of their variables. What both have in common stands for
// numbers of its own where that shows no difference. Elements that `before` leaves undefined are
// not compared; floats may differ by what an order of their sums explains, where there are sums.
Outcome judge_tensors(uop::Graph& g, uop::Ref before, uop::Ref after, Context& context);

}  // namespace assay::props
