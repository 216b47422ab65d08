#pragma once

#include <vector>

#include "engine/codegen/opt.h"
#include "engine/result.h"
#include "engine/uop/sample.h"
#include "engine/uop/target.h"

namespace assay::codegen {

// A legal list for the kernel, drawn from `random`: the same numbers give the same list. Folds that
// can be shared mostly are, since what they need (LOCAL storage, barriers) is what goes wrong; the
// kernel stays of a length that a compiler takes in little time.
Result<std::vector<Opt>> random_opts(uop::Graph& g, const uop::Target& target, uop::Ref kernel,
                                     uop::Random& random);

}  // namespace assay::codegen
