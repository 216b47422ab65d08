#pragma once

#include "engine/result.h"
#include "engine/uop/uop.h"

namespace assay::schedule {

using uop::Graph;
using uop::Ref;

// A function of a tensor graph is CALL{info name}(body, args…) whose body is a value over
// PARAM{slot}: its outputs are bound to no storage. It is what the body is with each PARAM replaced
// by the argument of its slot, and it is inlined so. A body that is a SINK or a LINEAR is compiled
// already: such a call stays.
//
// An error names the slot: that has no argument, or one of another type or shape (of symbolic
// shapes, the largest counts).
Result<Ref> resolve_function(Graph& g, Ref call);

// All functions below sink, inner ones first.
Result<Ref> resolve_functions(Graph& g, Ref sink);

}  // namespace assay::schedule
