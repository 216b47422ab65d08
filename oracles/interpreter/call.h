#pragma once

#include <span>

#include "engine/result.h"
#include "oracles/interpreter/kernel.h"

namespace assay::interpreter {

// Runs a call's body: a kernel, or the body of a copy. An error names what runs.
Result<bool> run_body(uop::Graph& g, uop::Ref body, std::span<const Argument> arguments,
                      const Variables& variables, Kernels& kernels);

}  // namespace assay::interpreter
