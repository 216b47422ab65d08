#pragma once

#include "props/firings/scalar.h"

namespace assay::props {

// The node that both are made of by movement alone (RESHAPE, EXPAND, PERMUTE, FLIP, PAD, SHRINK),
// or null where there is none.
uop::Ref moved_base(uop::Ref before, uop::Ref after);

// Whether two movements of one base have the same shape and the same element, or the same padding,
// at every place, for all values of the variables in their sizes for which the first is
// well-formed. Where each element comes from is a linear formula of each axis by itself, or of the
// place in row-major order where an axis was taken apart. A failure is run in the interpreter, on a
// base of numbered elements.
Outcome judge_movement(uop::Graph& g, uop::Ref before, uop::Ref after, Context& context);

}  // namespace assay::props
