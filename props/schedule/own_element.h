#pragma once

#include "props/schedule/call_access.h"
#include "props/schedule/footprint.h"

namespace assay::props {

// Whether a call may read, of storage that it writes, an element that another of its iterations
// writes, as far as its body tells: false is certain. Either access may be the other.
bool may_read_others(const CallAccesses& accesses, const CallAccess& write, const CallAccess& read,
                     Footprints& footprints);

}  // namespace assay::props
