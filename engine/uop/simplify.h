#pragma once

#include <span>

#include "engine/uop/pass.h"

namespace assay::uop {

// What makes a graph simple: values (the symbolic rules and those of validity, together), then
// factors.
std::span<const Pass* const> simplify_passes();

// The graph below root after simplify_passes(). To simplify it again changes nothing.
Result<Ref> simplify(Run& run, Ref root);

}  // namespace assay::uop
