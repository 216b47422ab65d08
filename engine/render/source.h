#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::render {

// A kernel as text, and what a launch of it takes.
struct Source {
  std::string name;  // of the function
  std::string text;
  std::vector<uop::Ref> lines;  // the node behind each line of the text, or null
  std::array<uop::Ref, 3> groups =
      {};  // work-groups along each axis: a term over VARIABLEs, null for 1
  std::array<uop::Ref, 3> items = {};  // work-items of a group along each axis, likewise
  std::vector<uop::Ref> arguments;     // PARAMs by slot, then VARIABLEs by name
};

}  // namespace assay::render
