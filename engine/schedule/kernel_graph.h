#pragma once

#include "engine/result.h"
#include "engine/uop/pass.h"
#include "engine/uop/target.h"

namespace assay::schedule {

using uop::Ref;
using uop::Run;

// From the tensor graph to the kernel graph (README.md, Forms): prepare_rangeify, run_rangeify,
// STAGEs removed by the cost rule, the buffers of a kernel limited to what the target takes, then
// every STAGE that is left a BUFFER, and every store a kernel.
Result<Ref> get_kernel_graph(Run& run, Ref sink, const uop::Target& target);

// The last step. A STAGE becomes AFTER(BUFFER, CALL(kernel, BUFFER, state…)) with a number that the
// graph has not, END(STORE…) becomes CALL(kernel, state…). A kernel that would read what it writes
// at another place than it writes to computes into a BUFFER first.
const uop::Pass& split_store_pass();

}  // namespace assay::schedule
