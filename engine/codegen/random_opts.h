#pragma once

#include <vector>

#include "engine/codegen/opt.h"
#include "engine/result.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/sample.h"

namespace assay::codegen {

// A legal list for the kernel, drawn from `random`: the same numbers give the same list. Folds that
// can be shared mostly are, since what they need (LOCAL storage, barriers) is what goes wrong; the
// kernel stays of a length that a compiler takes in little time.
Result<std::vector<Opt>> random_opts(uop::Graph& g, const uop::Target& target, uop::Ref kernel,
                                     uop::Random& random);

// The kernel after the early passes (pipeline.h), with such a list beside its name.
Result<uop::Ref> with_random_opts(uop::Run& run, uop::Ref kernel, uop::Random& random);

}  // namespace assay::codegen
