#include "engine/codegen/lane_invariants.h"

#include <fmt/format.h>

#include "engine/codegen/place.h"
#include "engine/uop/dim.h"
#include "engine/uop/gate.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;

std::optional<std::string> first_read(Graph& g, Ref root) {
  const std::vector<Ref> order = toposort(g, root);
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t s = 0; s < order[i]->src.size(); ++s) {
      if (!is_read(order[i], s) || !is_place(order[i]->src[s])) continue;
      return fmt::format("%{} = {} reads its source {} without a load", i, to_text(order[i]->op),
                         s);
    }
  }
  return std::nullopt;
}

std::optional<std::string> first_shape(Graph& g, Ref root) {
  const std::vector<Ref> order = toposort(g, root);
  for (size_t i = 0; i < order.size(); ++i) {
    const uop::Shape sizes = shape(g, order[i]);
    if (sizes.size() == (is_state(order[i]) ? 1 : 0)) continue;
    return fmt::format("%{} = {} has shape {}", i, to_text(order[i]->op), shape_text(sizes));
  }
  return std::nullopt;
}

// The first source of a node that may not stand there.
std::optional<std::string> first_source(Graph& g, Ref root, bool (*may_stand)(Ref u, size_t source),
                                        std::string_view what) {
  const std::vector<Ref> order = toposort(g, root);
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t s = 0; s < order[i]->src.size(); ++s) {
      if (may_stand(order[i], s)) continue;
      return fmt::format("source {} of %{} = {} is {}", s, i, to_text(order[i]->op), what);
    }
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

std::optional<std::string> first_gate(Graph& g, Ref root) {
  return first_source(g, root, is_gate_at_place, "invalid, and gates no place");
}

std::optional<std::string> first_vector(Graph& g, Ref root) {
  return first_source(g, root, is_whole_vector, "a vector, and stands for no lane");
}

}  // namespace

const uop::Invariant& loaded() {
  static const uop::Invariant invariant = {"loaded", first_read};
  return invariant;
}

const uop::Invariant& shapeless() {
  static const uop::Invariant invariant = {"shapeless", first_shape};
  return invariant;
}

const uop::Invariant& gates_at_places() {
  static const uop::Invariant invariant = {"gates_at_places", first_gate};
  return invariant;
}

const uop::Invariant& whole_vectors() {
  static const uop::Invariant invariant = {"whole_vectors", first_vector};
  return invariant;
}

}  // namespace assay::codegen
