#pragma once

#include <vector>

#include "fuzz/mutate/repair.h"
#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {

// What is known of the values of a program where it ends, by evaluating it with the reference:
// between which numbers their elements lie, and whether they are exact. Of a program that costs too
// much to evaluate, only what their types say.
std::vector<Known> known_of(const tensor::Program& program, const Repaired& facts);

}  // namespace assay::fuzz
