#pragma once

#include <optional>
#include <string>

#include "engine/uop/uop.h"

namespace assay::uop {

// The first thing wrong with one node, or nothing. Looked at are the number of its sources, its
// argument, its type and theirs (op.def), and what its operation asks for besides:
//   const, var             values held as Value says; var has no bounds or two, lo <= hi
//   permute, flip          a permutation; distinct axes, none negative
//   reduce, allreduce      folded by an operation that has a unit and works on the node's type
//   reshape, expand, pad                        dimensions of type index
//   shrink, index, reduce, stage, end, range, special   ranges, sizes and indices are integers
//   load                   (address, alternative of the node's type, gate)
//   store                  (address, value of the address's type, gate)
//   if, endif              a gate is bool; an endif's source is its if
//   bitcast                between types with a layout; their widths may differ, shapes follow
// Messages count sources from 1. The node need not belong to a graph.
std::optional<std::string> verify_node(Ref u);

// The same for the first bad node below root, which is named by its place in the toposort and its
// operation, as in "%3 = add: add takes 2 sources, found 1".
std::optional<std::string> verify(Graph& g, Ref root);

}  // namespace assay::uop
