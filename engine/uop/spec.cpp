#include "engine/uop/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "engine/check.h"
#include "engine/uop/facts.h"
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

std::optional<std::string> index_at(Graph&, Ref u, std::string_view called) {
  if (u->dtype == Index && !is_const(u)) return fmt::format("{} has type index", called);
  for (size_t s = 0; s < u->src.size(); s++) {
    if (u->src[s]->dtype != Index || is_size(u, s)) continue;
    return fmt::format("source {} of {} has type index", s, called);
  }
  return std::nullopt;
}

std::optional<std::string> verify_at(Graph&, Ref u, std::string_view called) {
  const std::optional<std::string> bad = verify_node(u);
  return bad ? std::optional(fmt::format("{}: {}", called, *bad)) : std::nullopt;
}

std::string name_of(size_t place, Ref u) { return fmt::format("%{} = {}", place, to_text(u->op)); }

uint32_t next_bit() {
  static std::atomic<uint32_t> invariants = 0;
  const uint32_t number = invariants++;
  ASSAY_CHECK(number < 32, "there are more invariants than bits in Facts::kept");
  return uint32_t{1} << number;
}

}  // namespace

OpSet ops_below(Graph& g, Ref root) {
  NodeMap<OpSet>& map = g.facts().ops;
  return derive(map, root, [&](Ref u) {
    OpSet ops = {u->op};
    for (const Ref s : u->src) ops = ops | map.at(s);
    return ops;
  });
}

bool implies(const Spec& a, const Spec& b) {
  const auto has = [&](const Invariant* i) {
    return std::find(a.invariants.begin(), a.invariants.end(), i) != a.invariants.end();
  };
  return b.ops.contains(a.ops) && std::all_of(b.invariants.begin(), b.invariants.end(), has);
}

Invariant::Invariant(std::string_view name, OfNode of_node)
    : name_(name), of_node_(of_node), bit_(next_bit()) {}
Invariant::Invariant(std::string_view name, OfGraph of_graph)
    : name_(name), of_graph_(of_graph), bit_(next_bit()) {}

Invariant::Broken Invariant::breach(Graph& g, Ref root) const {
  if (of_graph_ != nullptr) return of_graph_(g, root);
  const std::vector<Ref> order = toposort(g, root);
  for (size_t i = 0; i < order.size(); i++) {
    if (of_node_(g, order[i], {})) return of_node_(g, order[i], name_of(i, order[i]));
  }
  return std::nullopt;
}

// Whether all those of nodes hold at root and below. A node that was asked is not asked again.
bool Invariant::keep_nodes(std::span<const Invariant* const> invariants, Graph& g, Ref root) {
  uint32_t asked = 0;
  for (const Invariant* i : invariants) asked |= i->of_node_ == nullptr ? 0 : i->bit_;
  NodeMap<uint32_t>& kept = g.facts().kept;
  const auto is_kept = [&](Ref u) { return kept.has(u) && (kept.at(u) & asked) == asked; };
  std::vector<Ref> stack;
  if (!is_kept(root)) stack.push_back(root);
  while (!stack.empty()) {
    const Ref u = stack.back();
    const size_t depth = stack.size();
    for (size_t i = u->src.size(); i-- > 0;) {
      if (!is_kept(u->src[i])) stack.push_back(u->src[i]);
    }
    if (stack.size() > depth) continue;
    stack.pop_back();
    if (is_kept(u)) continue;
    // One may be asked only where those before it hold.
    const auto holds = [&](const Invariant* i) {
      return i->of_node_ == nullptr || !i->of_node_(g, u, {});
    };
    if (!std::ranges::all_of(invariants, holds)) return false;
    kept.set(u, asked | (kept.has(u) ? kept.at(u) : 0));
  }
  return true;
}

// The first of them that does not hold. What held of a graph is remembered at its root, since what
// one pass yields is what the next accepts.
std::optional<std::string> Invariant::first_breach(std::span<const Invariant* const> invariants,
                                                   Graph& g, Ref root) {
  const bool nodes_keep = keep_nodes(invariants, g, root);
  for (const Invariant* i : invariants) {
    NodeMap<uint32_t>& kept = g.facts().kept;
    const uint32_t known = kept.has(root) ? kept.at(root) : 0;
    const bool is_known = i->of_node_ != nullptr ? nodes_keep : (known & i->bit_) != 0;
    if (is_known) continue;
    if (const Broken broken = i->breach(g, root)) {
      return fmt::format("not {}: {}", i->name_, *broken);
    }
    if (i->of_graph_ != nullptr) kept.set(root, known | i->bit_);
  }
  return std::nullopt;
}

std::optional<std::string> breach(const Spec& spec, Graph& g, Ref root) {
  if (!spec.ops.contains(ops_below(g, root))) {
    const std::vector<Ref> order = toposort(g, root);
    const auto strange = std::ranges::find_if(order, [&](Ref u) { return !spec.ops.has(u->op); });
    return fmt::format("{}: {} does not belong here", spec.name,
                       name_of(static_cast<size_t>(strange - order.begin()), *strange));
  }
  const auto broken = Invariant::first_breach(spec.invariants, g, root);
  return broken ? std::optional(fmt::format("{}: {}", spec.name, *broken)) : std::nullopt;
}

const Invariant& well_formed() {
  static const Invariant invariant = {"well formed", verify_at};
  return invariant;
}

const Invariant& fixed_width() {
  static const Invariant invariant = {"of fixed width", index_at};
  return invariant;
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
