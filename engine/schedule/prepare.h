#pragma once

#include "engine/result.h"
#include "engine/uop/pass.h"

namespace assay::schedule {

using uop::Ref;
using uop::Run;

// What is settled on the tensor graph before ranges are: writes through a BITCAST store the bits,
// a BITCAST between widths becomes shifts, what is empty or undefined is gone, a large reduce is
// two, a COPY moves one run of elements of storage.
std::span<const uop::Pass* const> prepare_passes();
Result<Ref> prepare_rangeify(Run& run, Ref sink);

}  // namespace assay::schedule
