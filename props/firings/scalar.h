#pragma once

#include "props/firings/memo.h"
#include "props/firings/pair.h"
#include "props/property.h"

namespace assay::props {

// Whether the pair's second term refines the first (smt::refines): proved where a method can, else
// sampled on `points` values of the leaves. A function that devices compute within some units in
// the last place may be replaced by what is within as many (full profile of OpenCL, or the limit of
// the context's target), which is sampled. Unknown where no value of the leaves gave the first term
// a value, and where the terms differ at values that the leaves may never have.
Outcome judge_scalar(uop::Graph& g, const ScalarPair& pair, Context& context, size_t points = 256);

// The same, by evaluation alone: exhaustive where there are few values of the leaves.
Outcome judge_by_points(uop::Graph& g, const ScalarPair& pair, uint64_t seed, size_t points);

// judge_scalar() where the context remembers no pair like it, and then it does.
Outcome recall_scalar(uop::Graph& g, const ScalarPair& pair, Context& context);

}  // namespace assay::props
