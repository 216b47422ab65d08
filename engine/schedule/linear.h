#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/result.h"
#include "engine/schedule/calls.h"

namespace assay::schedule {

// The LINEAR of CALL(LINEAR, args…) over the arguments: PARAM{slot} is the argument of that place,
// and each BUFFER is a new one, numbered from `next_buffer` on. A call of a LINEAR within it is
// replaced by its calls. Such a call is a scope: its arguments are what its PARAMs mean, variables
// that it binds have those values within it, others are inherited. Its first calls wait for what it
// waited for, and who waited for it waits for its last.
//
// An error names the slot: that has no argument, or one of another type, size or device.
Result<Ref> resolve_linear_call(Graph& g, Ref call, int32_t& next_buffer);

// Variables by name, with their values.
using VariableValues = std::vector<std::pair<std::string, int64_t>>;

struct LinearWithVars {
  Ref linear = nullptr;
  VariableValues variables;
};

// The same, with the values of the variables that its kernels use: BIND(VARIABLE, CONST) among the
// arguments. A variable with two values or without one is an error that names them.
//
// This is where a capture takes the list instead: before memory is planned, since it plans all that
// it holds at once. Until there are captures, every list is planned and run.
Result<LinearWithVars> create_linear_with_vars(Graph& g, Ref call, int32_t& next_buffer);

}  // namespace assay::schedule
