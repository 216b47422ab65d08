#include "engine/codegen/loop_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/codegen/axes.h"
#include "engine/codegen/launch.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::Graph;
using uop::Invariant;
using uop::Op;
using uop::Ref;

using Breach = std::optional<std::string>;

bool is_range(Ref u) { return u->op == Op::Range; }
bool is_numbered_buffer(Ref u) {
  return (u->op == Op::Buffer || u->op == Op::Stage) &&
         u->arg.addr_space() != uop::AddrSpace::Global;
}

// Two of these nodes that have one number.
Breach shared_number(Graph& g, Ref root, bool (*is_one)(Ref)) {
  std::vector<int64_t> numbers;
  for (const Ref u : toposort(g, root)) {
    if (is_one(u)) numbers.push_back(u->arg.number());
  }
  std::ranges::sort(numbers);
  const auto twice = std::ranges::adjacent_find(numbers);
  if (twice == numbers.end()) return {};
  return fmt::format("{} is the number of two", *twice);
}

Breach range_numbers(Graph& g, Ref root) { return shared_number(g, root, is_range); }
Breach buffer_numbers(Graph& g, Ref root) { return shared_number(g, root, is_numbered_buffer); }

// The first node for which there is something to say.
Breach first(Graph& g, Ref root, Breach (*of)(Ref)) {
  for (const Ref u : toposort(g, root)) {
    if (Breach bad = of(u)) return bad;
  }
  return {};
}

Breach folded_axes(Ref u) {
  if (u->op != Op::Reduce || u->arg.number() == 0) return {};
  return fmt::format("a reduce folds {} axes", u->arg.number());
}

Breach range_of(Ref u, bool (*is_wrong)(Ref)) {
  if (!is_wrong(u)) return {};
  return fmt::format("range {} is {}", u->arg.number(), to_text(u->arg.axis_type()));
}

Breach lane_range(Ref u) { return range_of(u, is_lane_axis); }

Breach unplaced(Ref u) {
  if (Breach bad = range_of(u, [](Ref r) { return is_group_axis(r) || is_item_axis(r); })) {
    return bad;
  }
  if (u->op != Op::Special || launch_axis(u->arg.name())) return {};
  return fmt::format("special {} is no axis of a launch", u->arg.name());
}

Breach looped_twice(Graph& g, Ref root) {
  std::vector<int64_t> closed;
  for (const Ref u : toposort(g, root)) {
    if (u->op != Op::End) continue;
    for (const Ref r : u->src.subspan(1)) {
      if (has_type(r, AxisType::Reduce)) closed.push_back(r->arg.number());
    }
  }
  std::ranges::sort(closed);
  const auto twice = std::ranges::adjacent_find(closed);
  if (twice == closed.end()) return {};
  return fmt::format("two loops are over range {}", *twice);
}

}  // namespace

const Invariant& ranges_have_numbers() {
  static constexpr Invariant kInvariant = {"a number a range", range_numbers};
  return kInvariant;
}

const Invariant& buffers_have_numbers() {
  static constexpr Invariant kInvariant = {"a number a buffer", buffer_numbers};
  return kInvariant;
}

const Invariant& folds_ranges_only() {
  static constexpr Invariant kInvariant = {
      "folds over ranges only", [](Graph& g, Ref root) { return first(g, root, folded_axes); }};
  return kInvariant;
}

const Invariant& lanes_are_axes() {
  static constexpr Invariant kInvariant = {
      "lanes are axes", [](Graph& g, Ref root) { return first(g, root, lane_range); }};
  return kInvariant;
}

const Invariant& one_loop_a_fold() {
  static constexpr Invariant kInvariant = {"one loop a fold", looped_twice};
  return kInvariant;
}

const Invariant& axes_are_special() {
  static constexpr Invariant kInvariant = {
      "axes are special", [](Graph& g, Ref root) { return first(g, root, unplaced); }};
  return kInvariant;
}

}  // namespace assay::codegen
