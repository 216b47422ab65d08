#pragma once

#include <vector>

#include "engine/result.h"
#include "engine/schedule/calls.h"

namespace assay::schedule {

// A call reads a version of a buffer that another call of the same circle overwrites. The circle is
// gone when the call reads a copy of that version instead.
struct Pinned {
  Ref call;    // CALL of the kernel graph
  Ref buffer;  // BUFFER or PARAM
  Ref state;   // the version, as the call takes it
};
// Those of one circle, in its order; at least one, or nothing helps.
using Cycle = std::vector<Pinned>;

// The LINEAR of a kernel graph SINK(state…): its calls over buffers instead of states, in an order
// that their edges allow; of the calls that could be next, the first in the graph's toposort.
//
//   RAW  from who made a state to who takes it
//   WAR  from who reads a state to who makes the next one: by version, so a reader is held against
//        the one kernel that overwrites what it reads
//   WAW  from who made a state to who makes the next one of it without having taken it (a join)
//
// States may go through MSELECT and MSTACK: a stack is the states that are stacked. An AFTER of
// AFTERs of the same buffer is all their kernels; a kernel that is in the state before is no new
// writer. AFTER's other sources only order: who makes or takes it comes after who made them.
//
// An error names a shortest circle of kernels: "cycle: kernel 3 (add_64) -WAR-> kernel 5 (mul_64)
// -RAW-> kernel 3 (add_64)". `cycles` then tells all that must be broken, a circle each, if the
// first of each is.
Result<Ref> create_schedule(Graph& g, Ref sink, std::vector<Cycle>* cycles = nullptr);

}  // namespace assay::schedule
