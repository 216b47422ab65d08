#pragma once

#include <string>

#include "engine/uop/uop.h"

namespace assay::uop {

// The graph below root for Graphviz: a box for each node, in the order of the .uop text and with
// its numbers, an arrow from each source to its user. Constants are drawn at each user, so that a
// common number does not tie the picture together.
std::string to_dot(Graph& g, Ref root);

}  // namespace assay::uop
