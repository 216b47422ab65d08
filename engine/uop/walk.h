#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::uop {

// How far a walk goes below the root.
enum class Extent : uint8_t {
  Everything,
  OutsideBodies,  // not into the body (first source) of a CALL
  Term,           // not below what is no scalar function: a LOAD, a REDUCE, a RANGE ends a term
};

// The first source of u that such a walk visits; all behind it are visited as well.
size_t first_source(Ref u, Extent extent);

// Root and all below it, each once: sources before users, in the order of sources. The order
// depends on structure alone.
std::vector<Ref> toposort(Graph& g, Ref root, Extent extent = Extent::Everything);

// How many scalar functions (is_scalar) there are below root, each counted once.
size_t count_ops(Graph& g, Ref root);

// What takes the place of a node.
using Substitution = std::unordered_map<Ref, Ref>;

// The graph below root with each node that is a key of `map` replaced by its value; values are not
// searched again.
Ref substitute(Graph& g, Ref root, const Substitution& map, Extent extent = Extent::Everything);

// The same structure in another graph (or the same one).
Ref copy_to(Graph& to, Graph& from, Ref root);

// A copy in which BUFFER, RANGE and PARAM nodes that hold a number are numbered 0, 1, … by their
// first occurrence in the toposort, each of the three by itself: two graphs that differ only in how
// such numbers were handed out become one.
Ref renumber(Graph& g, Ref root);

}  // namespace assay::uop
