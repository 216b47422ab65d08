#pragma once

#include <cstddef>

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

// An index that is accessed only where the gate holds. The gate is null where it always holds; the
// index is INVALID where it never does.
struct Gated {
  uop::Ref index;
  uop::Ref gate = nullptr;
};

// where(gate, index, INVALID) taken apart. What is left of the index is never Invalid, or INVALID.
Gated split_gate(uop::Run& run, uop::Ref u);
// where(gate, index, INVALID), or the index alone.
uop::Ref gated(uop::Graph& g, Gated at);
// Where both hold; null is a gate that always holds.
uop::Ref both(uop::Graph& g, uop::Ref a, uop::Ref b);

}  // namespace assay::codegen
