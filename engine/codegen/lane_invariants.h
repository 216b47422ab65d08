#pragma once

#include "engine/uop/spec.h"

// What holds of the forms from `loads` to `vectors` beyond the operations that they are made of.
namespace assay::codegen {

// Nothing computes with a place: what is read from storage is a LOAD.
const uop::Invariant& loaded();
// Storage has one axis, and all else none.
const uop::Invariant& shapeless();

// INVALID only gates the index of a place: where(gate, index, INVALID).
const uop::Invariant& gates_at_places();
// Vectors are loaded and stored as a whole, and computed with lane by lane.
const uop::Invariant& whole_vectors();

}  // namespace assay::codegen
