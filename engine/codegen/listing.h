#pragma once

#include <string>

#include "engine/uop/uop.h"

namespace assay::codegen {

// A LINEAR as a person reads it, a line for each node but constants, loops and branches indented:
//
//   %0 = param f32 8 {0}
//   %1 = range i32 4 {0 reduce}
//     %2 = index f32 %0 %1
//     %3 = load f32 %2
std::string lines_text(uop::Ref linear);

}  // namespace assay::codegen
