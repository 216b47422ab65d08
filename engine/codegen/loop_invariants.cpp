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

Breach folded_axes(Graph&, Ref u, std::string_view called) {
  if (u->op != Op::Reduce || u->arg.number() == 0) return {};
  return fmt::format("{} folds {} axes", called, u->arg.number());
}

Breach range_of(Ref u, std::string_view called, bool (*is_wrong)(Ref)) {
  if (!is_wrong(u)) return {};
  return fmt::format("{} {} is {}", called, u->arg.number(), to_text(u->arg.axis_type()));
}

Breach lane_range(Graph&, Ref u, std::string_view called) {
  return range_of(u, called, is_lane_axis);
}

Breach unplaced(Graph&, Ref u, std::string_view called) {
  const auto is_placed = [](Ref r) { return is_group_axis(r) || is_item_axis(r); };
  if (Breach bad = range_of(u, called, is_placed)) return bad;
  if (u->op != Op::Special || launch_axis(u->arg.name())) return {};
  return fmt::format("{} {} is no axis of a launch", called, u->arg.name());
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
  static const Invariant invariant = {"a number a range", range_numbers};
  return invariant;
}

const Invariant& buffers_have_numbers() {
  static const Invariant invariant = {"a number a buffer", buffer_numbers};
  return invariant;
}

const Invariant& folds_ranges_only() {
  static const Invariant invariant = {"folds over ranges only", folded_axes};
  return invariant;
}

const Invariant& lanes_are_axes() {
  static const Invariant invariant = {"lanes are axes", lane_range};
  return invariant;
}

const Invariant& one_loop_a_fold() {
  static const Invariant invariant = {"one loop a fold", looped_twice};
  return invariant;
}

const Invariant& axes_are_special() {
  static const Invariant invariant = {"axes are special", unplaced};
  return invariant;
}

}  // namespace assay::codegen
