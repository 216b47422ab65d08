#pragma once

#include <vector>

#include "engine/codegen/opt.h"
#include "engine/uop/pass.h"

namespace assay::codegen {

// The list that suits a kernel on the run's target. It follows from the kernel and from what the
// target says of itself (Tuning, Limits), and from nothing else.
Result<std::vector<Opt>> chosen_opts(uop::Graph& g, const uop::Target& target, uop::Ref kernel);

// Writes that list beside the kernel's name where none is.
const uop::Pass& choose_opts();

}  // namespace assay::codegen
