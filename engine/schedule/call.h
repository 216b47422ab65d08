#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/tensor/session.h"
#include "engine/uop/uop.h"
#include "engine/uop/walk.h"

namespace assay::schedule {

using tensor::Session;
using tensor::Tensor;
using uop::Graph;
using uop::Ref;

// What is stored to realize tensors.
struct Realization {
  // SINK(state…): every state is an AFTER over a BUFFER of the session. Nothing is left to do where
  // it has no source.
  Ref sink;
  // What then stands in the place of nodes of live values: a computed value that got storage, or
  // the last version of a buffer, by its BUFFER.
  uop::Substitution map;
  std::vector<Session::Owner> owners;
};

// Whether a value has to be put into storage to be read: all but storage, and constants under
// movement.
bool needs_storage(Ref state);

// Picks what has to be stored so that all these tensors can be read. A computed value gets a BUFFER
// of its own, and what else uses it then reads that. Where the schedule makes a new version of a
// buffer, every live value that still reads an older one is stored as well, since that version is
// gone afterwards.
Realization pick_outputs(Session& session, std::span<const Tensor* const> tensors);

// CALL(SINK, args…): the sink with a PARAM{slot} in the place of each BUFFER, by first occurrence,
// and the VARIABLE in the place of each BIND. The arguments are the BUFFERs by slot, then the
// BINDs. Nothing of the session is left in the body: equal bodies are equal work.
Ref transform_to_call(Graph& g, Ref sink);

}  // namespace assay::schedule
