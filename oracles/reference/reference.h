#pragma once

#include <cstdint>
#include <vector>

#include "engine/result.h"
#include "engine/tensor/program/program.h"
#include "oracles/reference/elements.h"

namespace assay::reference {

// A tensor of the reference: its elements are an array of Eigen, in row-major order.
struct Array {
  DType dtype = DType::Void;
  std::vector<int64_t> shape;
  Elements elements;
};

// The values of outputs(program), in that order, straight from the text: statements are evaluated
// one after the other, each value in an array of its own, views as views. An error says which line
// breaks which rule (a written type or shape that does not follow, an axis out of range). Bounds
// are of devices with that licence.
Result<std::vector<Array>> evaluate(const tensor::Program& program,
                                    const Licence& licence = full_profile());

}  // namespace assay::reference
