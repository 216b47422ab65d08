#include "engine/uop/spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/uop/verify.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

constexpr OpSet term_ops() {
  OpSet ops = {Op::Const, Op::Invalid, Op::Variable, Op::Range, Op::Special};
  for (int i = 0; i < kOpCount; i++) {
    if (is_scalar(static_cast<Op>(i))) ops.insert(static_cast<Op>(i));
  }
  return ops;
}

bool is_size(Ref u, size_t source) {
  if (!is_const(u->src[source])) return false;
  // A LINEAR lists whatever its nodes name.
  if (u->op == Op::Buffer || u->op == Op::Param || u->op == Op::Linear) return true;
  return u->op == Op::Shrink && source > 0 && source % 2 == 0;
}

std::optional<std::string> first_index(Graph& g, Ref root) {
  const std::vector<Ref> order = toposort(g, root);
  for (size_t i = 0; i < order.size(); i++) {
    const Ref u = order[i];
    if (u->dtype == Index && !is_const(u)) {
      return fmt::format("%{} = {} has type index", i, to_text(u->op));
    }
    for (size_t s = 0; s < u->src.size(); s++) {
      if (u->src[s]->dtype != Index || is_size(u, s)) continue;
      return fmt::format("source {} of %{} = {} has type index", s, i, to_text(u->op));
    }
  }
  return std::nullopt;
}

}  // namespace

bool implies(const Spec& a, const Spec& b) {
  const auto has = [&](const Invariant* i) {
    return std::find(a.invariants.begin(), a.invariants.end(), i) != a.invariants.end();
  };
  return b.ops.contains(a.ops) && std::all_of(b.invariants.begin(), b.invariants.end(), has);
}

std::optional<std::string> breach(const Spec& spec, Graph& g, Ref root) {
  const std::vector<Ref> order = toposort(g, root);
  for (size_t i = 0; i < order.size(); i++) {
    if (!spec.ops.has(order[i]->op)) {
      return fmt::format("{}: %{} = {} does not belong here", spec.name, i, to_text(order[i]->op));
    }
  }
  for (const Invariant* invariant : spec.invariants) {
    if (const auto broken = invariant->breach(g, root)) {
      return fmt::format("{}: not {}: {}", spec.name, invariant->name, *broken);
    }
  }
  return std::nullopt;
}

const Invariant& well_formed() {
  static constexpr Invariant kInvariant = {"well formed", verify};
  return kInvariant;
}

const Invariant& fixed_width() {
  static constexpr Invariant kInvariant = {"of fixed width", first_index};
  return kInvariant;
}

const Spec& graph_spec() {
  static const Spec spec = {"graph", OpSet::all(), {&well_formed()}};
  return spec;
}

const Spec& term_spec() {
  static const Spec spec = {"term", term_ops(), {&well_formed()}};
  return spec;
}

}  // namespace assay::uop
