#pragma once

#include "engine/result.h"
#include "engine/schedule/calls.h"
#include "engine/uop/rewrite.h"

namespace assay::schedule {

// The LINEAR with each kernel that moves a contiguous range of one device's buffer to one of
// another device replaced by a COPY (README.md, Forms): as many elements, in the same order, from
// any place to any place. Kernels of one device stay, copies too. Any other kernel whose buffers
// are on several devices is an error that names it and them; so the result has none.
Result<Ref> pm_copy_from_store(uop::Run& run, Ref linear);

// All buffers of each call but of copies are on one device; else an error that names kernel and
// devices.
Result<bool> assert_all_same_devices(Graph& g, Ref linear);

}  // namespace assay::schedule
