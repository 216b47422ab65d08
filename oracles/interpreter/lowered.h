#pragma once

#include <span>

#include "oracles/interpreter/kernel.h"
#include "oracles/interpreter/lowered_plan.h"

namespace assay::interpreter {

// Runs a kernel of any form that is a SINK (engine/codegen/README.md), from that of the schedule to
// that with barriers. An error is without the name of the kernel.
//
// Loops follow from ENDs and from the ranges that nodes stand in, never from a list. An effect runs
// for all work-items before the next one, in an order that sources allow, of which `order` picks
// one; so a BARRIER has nothing to do here.
Result<bool> run_kernel(uop::Graph& g, uop::Ref kernel, std::span<const Argument> arguments,
                        const Variables& variables, StepOrder order = StepOrder::FirstSourceFirst);

}  // namespace assay::interpreter
