#pragma once

#include <span>
#include <vector>

#include "engine/result.h"
#include "oracles/interpreter/kernel.h"

namespace assay::interpreter {

// Runs one effect of a kernel. `scratch` has room for its steps' arrays; arguments fit parameters.
Result<bool> execute(const Effect& effect, std::span<const Parameter> parameters,
                     std::span<const Argument> arguments, Slot* scratch);

}  // namespace assay::interpreter
