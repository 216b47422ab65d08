#pragma once

#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// Which values are the same for all work-items of a group, whatever is in memory: what depends on
// no work-item (`lidx0`, …) and on no read but of GLOBAL storage that the kernel does not store to,
// at a place that is uniform itself.
class Uniform {
 public:
  Uniform(uop::Graph& g, uop::Ref root);

  bool operator()(uop::Ref u);

 private:
  bool holds(uop::Ref u) const;

  uop::Graph& g_;
  uop::NodeMap<uint8_t> stored_;  // the storage that something is stored to
  uop::NodeMap<uint8_t> known_;
};

}  // namespace assay::codegen
