#pragma once

#include <string>

#include "engine/result.h"
#include "engine/uop/target.h"
#include "engine/uop/uop.h"
#include "oracles/choices.h"

namespace assay::props {

// Graphs on which rules of movement, of tensors and of kernels may fire, from random choices.

// Movement of one PARAM of up to 6 axes by the given operations, mostly with sizes and amounts that
// are variables, so that what fires is proved for all of them. RESHAPEs have constant sizes.
uop::Ref moved_stock(uop::Graph& g, oracles::Choices& choices, uop::OpSet moves);

// SINK(state…) of a tensor graph (engine/schedule/README.md, Forms): sizes of 0, folds of many
// elements, other bits, copies between devices, writes through views and repeated ones. Prepared:
// as the rules of stores leave it, which go before those of the scheduler.
Result<uop::Ref> tensor_stock(uop::Graph& g, oracles::Choices& choices, bool is_prepared);

// A kernel with LOCAL storage and its folds shared, where it has any, as it stands before barriers
// are added.
Result<uop::Ref> kernel_stock(uop::Graph& g, oracles::Choices& choices);

// What such kernels are lowered for.
const uop::Target& stock_target();

}  // namespace assay::props
