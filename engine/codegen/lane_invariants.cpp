#include "engine/codegen/lane_invariants.h"

#include <fmt/format.h>

#include "engine/codegen/place.h"
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

}  // namespace

const uop::Invariant& loaded() {
  static const uop::Invariant invariant = {"loaded", first_read};
  return invariant;
}

const uop::Invariant& shapeless() {
  static const uop::Invariant invariant = {"shapeless", first_shape};
  return invariant;
}

}  // namespace assay::codegen
