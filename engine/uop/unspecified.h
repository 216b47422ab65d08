#pragma once

#include "engine/uop/facts.h"
#include "engine/uop/uop.h"

namespace assay::uop {

// Whether u may be unspecified for some values of its leaves: by a division by zero, a shift out of
// the width, or a cast that cannot hold its operand. What a load finds is some value, and that an
// `index` leaves 64 bits does not count. A term that is read only where a condition holds must not
// be read elsewhere unless this is false.
bool may_be_unspecified(Graph& g, Ref u);

}  // namespace assay::uop
