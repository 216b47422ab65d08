#pragma once

#include <span>

#include "engine/uop/facts.h"
#include "engine/uop/uop.h"

namespace assay::uop {

// The loops that u runs in: RANGE nodes, ordered by number, then type of axis, then structure.
// Equal sets of one graph are the same span, and the sets are flat: a node costs as much as its set
// is large only where the set differs from that of each of its sources.
//
//   range               itself, and those of its size
//   end reduce stage    those of the sources without those that the sources after the first name: a
//                       RANGE closes itself, any other term closes the ranges it depends on
//   call                those of the arguments; its body is a world of its own
//   all others          those of the sources
std::span<const Ref> ranges(Graph& g, Ref u);

// Whether u runs in that loop.
bool depends_on(Graph& g, Ref u, Ref range);

// The DEVICE node that says where u is, or nullptr where nothing does: a copy or an allreduce is
// where its second source says, storage where its DEVICE source says, a call where its arguments
// are, MSELECT k of an MSTACK where the k-th source is, and all else where its first source is that
// is anywhere.
Ref device(Graph& g, Ref u);

// The BUFFER or PARAM whose bytes u is a view of, or nullptr where u is a value of its own. Views
// are the movement operations, BITCAST, INDEX, AFTER (which denotes its first source) and MSELECT
// (of an MSTACK: the k-th source). LOAD ends a view, and so does all that computes, copies or
// gathers.
Ref buffer(Graph& g, Ref u);

}  // namespace assay::uop
