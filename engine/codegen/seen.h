#pragma once

#include "engine/uop/uop.h"

// What code generation shows to a watch (uop/watch.h).
namespace assay::codegen {

// A kernel was lowered.
struct KernelSeen {
  uop::Graph& graph;
  uop::Ref kernel;  // as scheduled
  uop::Ref linear;
};

}  // namespace assay::codegen
