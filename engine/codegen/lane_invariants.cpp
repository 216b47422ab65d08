#include "engine/codegen/lane_invariants.h"

#include <fmt/format.h>

#include "engine/codegen/place.h"
#include "engine/uop/dim.h"
#include "engine/uop/gate.h"
#include "engine/uop/shape.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::Invariant;
using uop::Op;
using uop::Ref;

using Broken = Invariant::Broken;

Broken read_at(Graph&, Ref u, std::string_view called) {
  for (size_t s = 0; s < u->src.size(); ++s) {
    if (!is_read(u, s) || !is_place(u->src[s])) continue;
    return fmt::format("{} reads its source {} without a load", called, s);
  }
  return std::nullopt;
}

Broken shape_at(Graph& g, Ref u, std::string_view called) {
  const uop::Shape sizes = shape(g, u);
  if (sizes.size() == (is_state(u) ? 1 : 0)) return std::nullopt;
  return fmt::format("{} has shape {}", called, shape_text(sizes));
}

// The first source of a node that may not stand there.
Broken source_at(Ref u, std::string_view called, bool (*may_stand)(Ref u, size_t source),
                 std::string_view what) {
  for (size_t s = 0; s < u->src.size(); ++s) {
    if (!may_stand(u, s)) return fmt::format("source {} of {} is {}", s, called, what);
  }
  return std::nullopt;
}

bool is_gate_at_place(Ref u, size_t source) {
  const Ref s = u->src[source];
  if (s->op == Op::Invalid) return u->op == Op::Where && source == 2;
  return !uop::is_gated(s) || (source > 0 && is_place(u));
}

bool is_vector_load(Ref u) { return u->op == Op::Load && u->src[0]->op == Op::Shrink; }

bool is_whole_vector(Ref u, size_t source) {
  const Ref s = u->src[source];
  const bool accesses = u->op == Op::Load || u->op == Op::Store;
  if (s->op == Op::Shrink) return accesses && source == 0 && is_place(s);
  if (s->op == Op::Stack) {
    const bool is_stored = u->op == Op::Store && source == 1 && u->src[0]->op == Op::Shrink;
    return is_stored && uop::is_dim(u->src[0]->src[2], static_cast<int64_t>(s->src.size()));
  }
  if (!is_vector_load(s)) return true;
  return u->op == Op::Index && source == 0 && u->src.size() == 2 && is_const(u->src[1]);
}

Broken gate_at(Graph&, Ref u, std::string_view called) {
  return source_at(u, called, is_gate_at_place, "invalid, and gates no place");
}

Broken vector_at(Graph&, Ref u, std::string_view called) {
  return source_at(u, called, is_whole_vector, "a vector, and stands for no lane");
}

}  // namespace

const uop::Invariant& loaded() {
  static const uop::Invariant invariant = {"loaded", read_at};
  return invariant;
}

const uop::Invariant& shapeless() {
  static const uop::Invariant invariant = {"shapeless", shape_at};
  return invariant;
}

const uop::Invariant& gates_at_places() {
  static const uop::Invariant invariant = {"gates_at_places", gate_at};
  return invariant;
}

const uop::Invariant& whole_vectors() {
  static const uop::Invariant invariant = {"whole_vectors", vector_at};
  return invariant;
}

}  // namespace assay::codegen
