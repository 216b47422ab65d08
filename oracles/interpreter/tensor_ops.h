#pragma once

#include <span>
#include <vector>

#include "engine/result.h"
#include "engine/uop/uop.h"
#include "oracles/interpreter/tensor.h"

namespace assay::interpreter {

std::string shape_text(std::span<const int64_t> shape);

// What an operation gives for tensors. `sizes` are the values of its sources of type index after
// the first, which only movement has.
Result<Tensor> apply_scalar(Blocks& blocks, uop::Ref u, std::span<const Tensor> sources);
Result<Tensor> apply_movement(Blocks& blocks, uop::Ref u, const Tensor& x,
                              std::vector<int64_t> sizes);
Result<Tensor> apply_bitcast(Blocks& blocks, uop::Ref u, const Tensor& x);
Result<Tensor> apply_reduce(Blocks& blocks, uop::Ref u, const Tensor& x);
Result<Tensor> apply_stack(Blocks& blocks, uop::Ref u, std::span<const Tensor> sources);

}  // namespace assay::interpreter
