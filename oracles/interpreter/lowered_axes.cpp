#include "oracles/interpreter/lowered_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/uop/walk.h"
#include "oracles/interpreter/sizes.h"

namespace assay::interpreter {
namespace {

using uop::AxisType;
using uop::Op;
using uop::Ref;

constexpr size_t kMostAxes = 64;
constexpr int64_t kMostLanes = int64_t{1} << 40;

bool closes(Ref u) { return u->op == Op::End || u->op == Op::Reduce || u->op == Op::Stage; }

bool is_view_of(const LoweredAxes& a, Ref u) {
  if (u->op == Op::Param || u->op == Op::Buffer || u->op == Op::Stage) return true;
  const bool passes = u->op == Op::Index || u->op == Op::After || u->op == Op::Shrink;
  return passes && !u->src.empty() && a.is_view(u->src[0]);
}

bool is_within(Ref axis) {
  if (axis->op == Op::Special) return axis->arg.name().starts_with('l');
  const AxisType t = axis->arg.axis_type();
  return t == AxisType::Local || t == AxisType::Warp || t == AxisType::GroupReduce;
}

Result<bool> find_ranges(LoweredAxes& a) {
  for (const Ref u : a.nodes) {
    a.places.set(u, static_cast<int>(a.free.size()));
    uint64_t set = 0;
    for (const Ref s : u->src) set |= a.free_of(s);
    if (u->op == Op::Range) {
      if (set != 0) return Error{"a range whose size depends on a range"};
      if (a.ranges.size() == kMostAxes) return Error{fmt::format("more than {} ranges", kMostAxes)};
      set = uint64_t{1} << a.ranges.size();
      a.ranges.push_back(u);
    } else if (closes(u)) {
      for (const Ref r : u->src.subspan(1)) set &= ~a.free_of(r);
    }
    a.free.push_back(set);
    a.views.push_back(0);
    a.views.back() = is_view_of(a, u) ? 1 : 0;
  }
  const uint64_t left = a.free.back();
  if (left == 0) return true;
  const Ref range = a.ranges[static_cast<size_t>(std::countr_zero(left))];
  return Error{fmt::format("range {} has no END", range->arg.number())};
}

Result<bool> add_axis(uop::Graph& g, LoweredAxes& a, Ref node, const Variables& variables) {
  for (const LaunchAxis& axis : a.axes) {
    if (axis.node == node) return true;
    if (node->op != Op::Special || axis.node->op != Op::Special) continue;
    if (axis.node->arg.name() == node->arg.name())
      return Error{fmt::format("{} has two sizes", node->arg.name())};
  }
  ASSAY_TRY(count, size_value(g, node->src[0], variables));
  count = std::max<int64_t>(count, 0);
  a.axes.push_back({node, count, std::max<int64_t>(count, 1), 1, is_within(node)});
  return true;
}

// The axes: SPECIALs, and the ranges that an END or a STAGE closes and that are no loops.
Result<bool> find_axes(uop::Graph& g, LoweredAxes& a, const Variables& variables) {
  for (const Ref u : a.nodes) {
    if (u->op == Op::Special) {
      if (const auto added = add_axis(g, a, u, variables); !added.ok()) return added.error();
    }
    if (u->op != Op::End && u->op != Op::Stage) continue;
    for (const Ref r : a.closed(u)) {
      if (is_serial(r->arg.axis_type())) continue;
      if (const auto added = add_axis(g, a, r, variables); !added.ok()) return added.error();
    }
  }
  return true;
}

// Gives lanes their numbers: groups one after the other.
Result<bool> number_lanes(LoweredAxes& a) {
  std::vector<LaunchAxis> sorted;
  sorted.reserve(a.axes.size());
  for (const bool within : {false, true}) {
    for (const LaunchAxis& axis : a.axes) {
      if (axis.within == within) sorted.push_back(axis);
    }
  }
  a.axes = std::move(sorted);
  a.axis_of.assign(a.ranges.size(), -1);
  for (size_t k = a.axes.size(); k-- > 0;) {
    LaunchAxis& axis = a.axes[k];
    axis.weight = a.lanes;
    if (axis.extent > kMostLanes / a.lanes) return Error{"more work-items than can be counted"};
    a.lanes *= axis.extent;
    if (axis.within) a.group *= axis.extent;
    if (axis.node->op == Op::Special) {
      a.specials |= uint64_t{1} << k;
      continue;
    }
    const uint64_t bit = a.free_of(axis.node);
    a.axis_of[static_cast<size_t>(std::countr_zero(bit))] = static_cast<int>(k);
  }
  for (const LaunchAxis& axis : a.axes) {
    if (axis.node->op == Op::Special && axis.count == 0) a.lanes = 0;
  }
  return true;
}

}  // namespace

uint64_t LoweredAxes::axes_of(uint64_t set) const {
  uint64_t axes_in = specials;
  for (; set != 0; set &= set - 1) {
    const int axis = axis_of[static_cast<size_t>(std::countr_zero(set))];
    if (axis >= 0) axes_in |= uint64_t{1} << axis;
  }
  return axes_in;
}

uint64_t LoweredAxes::group_axes() const {
  uint64_t set = 0;
  for (size_t k = 0; k < axes.size(); k++) {
    if (!axes[k].within) set |= uint64_t{1} << k;
  }
  return set;
}

std::vector<Ref> LoweredAxes::closed(Ref u) const {
  std::vector<Ref> all;
  for (const Ref s : u->src.subspan(1)) {
    for (uint64_t set = free_of(s); set != 0; set &= set - 1) {
      const Ref r = ranges[static_cast<size_t>(std::countr_zero(set))];
      if (std::find(all.begin(), all.end(), r) == all.end()) all.push_back(r);
    }
  }
  return all;
}

std::string LoweredAxes::lane_text(int64_t lane) const {
  std::string text;
  for (const LaunchAxis& axis : axes) {
    const std::string name = axis.node->op == Op::Special
                                 ? std::string(axis.node->arg.name())
                                 : fmt::format("range {}", axis.node->arg.number());
    text +=
        fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, lane / axis.weight % axis.extent);
  }
  return text;
}

Result<LoweredAxes> axes_of(uop::Graph& g, Ref kernel, const Variables& variables) {
  LoweredAxes a;
  a.nodes = uop::toposort(g, kernel);
  a.free.reserve(a.nodes.size());
  a.views.reserve(a.nodes.size());
  if (const auto found = find_ranges(a); !found.ok()) return found.error();
  if (const auto found = find_axes(g, a, variables); !found.ok()) return found.error();
  if (const auto numbered = number_lanes(a); !numbered.ok()) return numbered.error();
  return a;
}

}  // namespace assay::interpreter
