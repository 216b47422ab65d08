#pragma once

#include <cstddef>

#include "engine/uop/gate.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// Storage at a point in the order of effects: BUFFER, PARAM, or AFTER over a state.
bool is_state(uop::Ref u);
// Where storage is read or written: a state, which is all of it, or INDEX or SHRINK of one.
bool is_place(uop::Ref u);
// Whether source i of u is a value that u computes with, and so no place: neither what a LOAD,
// STORE, INDEX, SHRINK or AFTER is of, nor what only orders.
bool is_read(uop::Ref u, size_t i);
// The address space of a state: that of its BUFFER, GLOBAL for a PARAM.
uop::AddrSpace space_of(uop::Ref state);

// A term of type `index` as base + constant. The base is null where the term is the constant alone.
struct Shifted {
  uop::Ref base;
  int64_t constant = 0;
};
Shifted shifted(uop::Ref u);

// Where storage is accessed, with all gates that stand anywhere in u. What is left of the index is
// never Invalid; it is INVALID where no gate ever holds.
uop::Gated split_gates(uop::Run& run, uop::Ref u);

}  // namespace assay::codegen
