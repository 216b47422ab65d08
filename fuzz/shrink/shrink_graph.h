#pragma once

#include "fuzz/shrink/shrink.h"

namespace assay::fuzz {

// As shrink(), of a case that is a graph: fewer terms, smaller ones, operands in the place of
// results, small constants in the place of terms; of a kernel also fewer opts and settings. A
// candidate that is no kernel any more does not fail in the same way.
Shrunk shrink_graph(const Case& failing, const std::function<bool(const Case&)>& still_fails,
                    const ShrinkOptions& options = {});

}  // namespace assay::fuzz
