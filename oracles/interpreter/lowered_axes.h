#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/result.h"
#include "engine/uop/node_map.h"
#include "oracles/interpreter/interpreter.h"

namespace assay::interpreter {

// An axis of the launch: a RANGE whose values are work-items or work-groups, or a SPECIAL. Each
// value of an axis is another lane; a lane is a work-item, or what will be one.
struct LaunchAxis {
  uop::Ref node;
  int64_t count;
  int64_t extent;  // at least 1
  int64_t weight;  // of one step along it in the number of a lane
  bool within;     // its lanes share LOCAL storage
};

// What of a lowered kernel's structure planning asks for. Loops and lanes follow from the nodes
// alone: a node stands in the ranges that it reads, and in those that an AFTER places it in.
struct LoweredAxes {
  std::vector<uop::Ref> nodes;  // sources before users
  uop::NodeMap<int> places;     // of a node in `nodes`
  std::vector<uint8_t> views;   // by place: it names storage, and is read only where it is used
  std::vector<uop::Ref> ranges;
  std::vector<uint64_t> free;    // by place: the ranges (bits, places in `ranges`) it stands in
  std::vector<LaunchAxis> axes;  // those of groups before those within one
  std::vector<int> axis_of;      // by place of a range in `ranges`: its axis, or -1
  uint64_t specials = 0;         // the axes that are SPECIALs
  int64_t lanes = 1;
  int64_t group = 1;  // lanes of one group, which are neighbours

  int place(uop::Ref u) const { return places.at(u); }
  uint64_t free_of(uop::Ref u) const { return free[static_cast<size_t>(place(u))]; }
  bool is_view(uop::Ref u) const { return views[static_cast<size_t>(place(u))] != 0; }
  // The axes that an effect which stands in `ranges` runs for all values of. SPECIALs are always
  // among them.
  uint64_t axes_of(uint64_t ranges) const;
  // The axes along which LOCAL storage is another one.
  uint64_t group_axes() const;
  // The ranges that an END, REDUCE or STAGE closes: those that its sources after the first depend
  // on.
  std::vector<uop::Ref> closed(uop::Ref u) const;
  // "gidx0 = 1, range 3 = 0"
  std::string lane_text(int64_t lane) const;
};

// Ranges of these types run one after the other, the rest side by side (unless a REDUCE names
// them).
constexpr bool is_serial(uop::AxisType type) {
  return type == uop::AxisType::Loop || type == uop::AxisType::Reduce;
}

Result<LoweredAxes> axes_of(uop::Graph& g, uop::Ref kernel, const Variables& variables);

}  // namespace assay::interpreter
