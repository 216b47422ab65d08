#pragma once

#include <cstdint>
#include <vector>

#include "engine/tensor/program/program.h"

// What a statement says, held against its operands.
namespace assay::fuzz {

// Writes the type and shape that follow where operands have these shapes and variables are bound to
// `bound`; false, and nothing is written, where none do.
bool write_what_follows(const tensor::Program& program, tensor::Define& define,
                        const std::vector<std::vector<int64_t>>& shapes,
                        const std::vector<int64_t>& bound);

// Whether a statement that is well-formed now is so whatever its variables are bound to: kernels
// are made for all values, also for those at which the program that says it would be refused.
bool is_general(const tensor::Program& program, const tensor::Define& define,
                const std::vector<int64_t>& bound);

}  // namespace assay::fuzz
