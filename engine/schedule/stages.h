#pragma once

#include <cstdint>

#include "engine/result.h"
#include "engine/uop/pass.h"

namespace assay::schedule {

using uop::Ref;
using uop::Run;

// Removes every STAGE whose value is computed again where it is read for less than it costs to
// store it. The cost rule: it is recomputed where it reads at most 3 buffers and no reduce in it
// reads any. CONTIGUOUS and COPY are always stored. An axis along which a stored value does not
// change is stored once. A store of what is there already goes.
const uop::Pass& remove_stages_pass();

// The graph in which no kernel takes more than `most` buffers: where a scalar function would read
// more, its largest operands are materialized.
Result<Ref> limit_buffers(Run& run, Ref root, int64_t most);

}  // namespace assay::schedule
