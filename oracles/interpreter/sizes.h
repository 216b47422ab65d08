#pragma once

#include "engine/result.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/interpreter/numbers.h"

namespace assay::interpreter {

Slot constant_slot(uop::Ref constant);
// The value of a VARIABLE, which lies between its bounds, or of a BIND.
Result<Slot> variable_value(uop::Ref u, const Variables& variables);
// The value of a size: a term of constants and variables.
Result<int64_t> size_value(uop::Graph& g, uop::Ref size, const Variables& variables);

}  // namespace assay::interpreter
