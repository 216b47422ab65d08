#pragma once

#include <span>
#include <vector>

#include "engine/result.h"
#include "oracles/interpreter/kernel.h"

namespace assay::interpreter {

// What a call's argument stands for: a BUFFER, a PARAM of the enclosing call (one of `outer`), or a
// view of an arena, BITCAST(SHRINK(BUFFER of u8, offset, bytes)).
Result<Argument> argument_of(uop::Graph& g, uop::Ref u, std::span<const uop::Ref> outer,
                             const Variables& variables, Memory& memory);

}  // namespace assay::interpreter
