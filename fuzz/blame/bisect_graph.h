#pragma once

#include "fuzz/blame/bisect.h"

namespace assay::fuzz {

// As bisect(), of a case that is a graph: of terms the rule that the finding names, of a kernel the
// pass after which it computes something else, and the firing.
Blame bisect_graph(const Case& c, const Finding& finding,
                   std::span<const runtime::DeviceKind* const> kinds,
                   const uop::Switches& switches = {}, uop::Watch* watch = nullptr);

}  // namespace assay::fuzz
