#include "engine/codegen/barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/codegen/forms.h"
#include "engine/codegen/uniform.h"
#include "engine/uop/bounds.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::AddrSpace;
using uop::AxisType;
using uop::DType;
using uop::Graph;
using uop::NodeMap;
using uop::Op;
using uop::Ref;
using uop::Run;

// The LOCAL buffer that u is a view of, or null.
Ref local_buffer(Graph& g, Ref u) {
  const Ref storage = uop::buffer(g, u);
  const bool is_local = storage != nullptr && storage->op == Op::Buffer &&
                        storage->arg.addr_space() == AddrSpace::Local;
  return is_local ? storage : nullptr;
}

bool stores_to_local(Graph& g, Ref u) {
  return u->op == Op::Store && local_buffer(g, u->src[0]) != nullptr;
}

// Of u and all below it: whether something is stored to LOCAL storage, and whether something is
// that no BARRIER is above of.
constexpr uint8_t kStores = 1;
constexpr uint8_t kStoresOpenly = 2;

uint8_t local_stores(Graph& g, Ref u) {
  NodeMap<uint8_t>& known = g.facts().local_stores;
  return uop::derive(known, u, [&](Ref v) {
    uint8_t found = stores_to_local(g, v) ? kStores | kStoresOpenly : 0;
    for (const Ref s : v->src) found |= known.at(s);
    if (v->op == Op::Barrier) found &= kStores;
    return found;
  });
}

Ref add_raw_barrier(Run& run, Ref after) {
  Graph& g = run.graph();
  if (after->src.size() < 2 || local_buffer(g, after->src[0]) == nullptr) return nullptr;
  const std::span<const Ref> waits = after->src.subspan(1);
  const bool stores = std::any_of(waits.begin(), waits.end(),
                                  [&](Ref u) { return (local_stores(g, u) & kStoresOpenly) != 0; });
  if (!stores) return nullptr;
  const Ref barrier = g.make(Op::Barrier, DType::Void, waits);
  return g.make(Op::After, after->dtype, {after->src[0], barrier});
}

bool repeats(Graph& g, Ref range) {
  if (range->op != Op::Range) return false;
  const AxisType type = range->arg.axis_type();
  const bool is_loop = type == AxisType::Reduce || type == AxisType::Weak || type == AxisType::Loop;
  return is_loop && uop::bounds(g, range).hi > 0;
}

bool is_in(std::span<const Ref> set, Ref u) {
  return std::find(set.begin(), set.end(), u) != set.end();
}

// The LOCAL storage that is stored to in an iteration of one of the ranges.
std::vector<Ref> stored_within(Graph& g, std::span<const Ref> below, std::span<const Ref> ranges) {
  std::vector<Ref> stored;
  for (const Ref u : below) {
    if (!stores_to_local(g, u)) continue;
    const std::span<const Ref> around = uop::ranges(g, u);
    const bool within =
        std::any_of(ranges.begin(), ranges.end(), [&](Ref r) { return is_in(around, r); });
    const Ref storage = local_buffer(g, u->src[0]);
    if (within && !is_in(stored, storage)) stored.push_back(storage);
  }
  return stored;
}

bool is_within(std::span<const Ref> inner, std::span<const Ref> outer) {
  return std::all_of(inner.begin(), inner.end(), [&](Ref r) { return is_in(outer, r); });
}

Ref add_war_barrier(Run& run, Ref end) {
  Graph& g = run.graph();
  const Ref body = end->src[0];
  if (body->op == Op::Barrier || (local_stores(g, body) & kStores) == 0) return nullptr;
  // Loops that end together are within one another: what stands in one is repeated by all.
  const std::span<const Ref> ranges = end->src.subspan(1);
  if (!std::any_of(ranges.begin(), ranges.end(), [&](Ref r) { return repeats(g, r); })) {
    return nullptr;
  }
  const std::vector<Ref> stored = stored_within(g, uop::toposort(g, body), ranges);
  if (stored.empty()) return nullptr;
  bool hazard = false;
  std::vector<Ref> waits = {body};
  for (const Ref u : uop::toposort(g, end)) {
    if (u->op != Op::Load || !is_in(stored, local_buffer(g, u->src[0]))) continue;
    hazard = true;
    if (is_within(uop::ranges(g, u), uop::ranges(g, body))) waits.push_back(u);
  }
  if (!hazard) return nullptr;
  std::vector<Ref> sources(end->src.begin(), end->src.end());
  sources[0] = g.make(Op::Barrier, DType::Void, waits);
  return g.make(Op::End, DType::Void, sources);
}

// All work-items of a group pass a barrier equally often.
Result<Ref> check_uniform(Run& run, Ref root) {
  Graph& g = run.graph();
  std::vector<Ref> loops;  // in which barriers stand
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op != Op::Barrier) continue;
    const std::span<const Ref> around = uop::ranges(g, u);
    loops.insert(loops.end(), around.begin(), around.end());
  }
  if (loops.empty()) return root;
  Uniform uniform(g, root);
  for (const Ref r : loops) {
    if (uniform(r->src[0])) continue;
    return Error{
        fmt::format("a barrier stands in range {}, whose count may differ between the "
                    "work-items of a group",
                    r->arg.number())};
  }
  return root;
}

}  // namespace

const uop::RuleSet& implicit_barriers() {
  static const uop::RuleSet rules(
      "implicit_barriers",
      {
          uop::by("add_raw_barrier", uop::kAny, {Op::After}, add_raw_barrier,
                  "LOCAL storage that is named after a store to LOCAL storage is named after a "
                  "barrier"),
          uop::by("add_war_barrier", {DType::Void}, {Op::End}, add_war_barrier,
                  "a loop that loads and stores the same LOCAL storage ends with a barrier"),
      });
  return rules;
}

const uop::Pass& pm_implicit_barriers() {
  static const uop::Pass pass = {.name = "pm_implicit_barriers",
                                 .accepts = gated_form(),
                                 .yields = gated_form(),
                                 .rules = {&implicit_barriers()},
                                 .function = check_uniform};
  return pass;
}

}  // namespace assay::codegen
