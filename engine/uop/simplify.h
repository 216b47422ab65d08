#pragma once

#include "engine/uop/rewrite.h"

namespace assay::uop {

// The simplest form of the graph below root that the symbolic rules, the rules of validity and then
// those of factors lead to.
Result<Ref> simplify(Run& run, Ref root);

}  // namespace assay::uop
