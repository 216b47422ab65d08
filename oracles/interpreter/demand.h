#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/result.h"
#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"

namespace assay::interpreter {

// What has to be known of each node of a tensor graph for the values of some of them.
struct Demand {
  static constexpr uint8_t kValue = 1;  // its elements
  static constexpr uint8_t kState = 2;  // the bytes of a version of storage
  static constexpr uint8_t kTerm = 4;   // its elements over the ranges of a STAGE

  std::vector<uop::Ref> nodes;  // sources before users; bodies of calls are left out
  uop::NodeMap<int> places;     // of a node in `nodes`
  std::vector<uint8_t> wants;   // by place
  std::vector<int> last_user;   // by place: of the last node that asks; nodes.size() for a root
  std::vector<bool> open;       // by place: it depends on a RANGE that no STAGE below has closed

  size_t place(uop::Ref u) const { return static_cast<size_t>(places.at(u)); }
};

Result<Demand> demand_of(std::span<const uop::Ref> roots);

// The node below a view of a state: `view` is movement and BITCAST over it, nullptr if not.
uop::Ref viewed(uop::Ref view, uop::Ref state);

}  // namespace assay::interpreter
