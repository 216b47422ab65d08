#pragma once

#include <cstdint>
#include <vector>

#include "engine/result.h"
#include "engine/uop/node_map.h"
#include "oracles/interpreter/plan.h"

namespace assay::interpreter {

// What of a kernel's structure planning asks for.
struct KernelShape {
  std::vector<uop::Ref> nodes;  // sources before users
  uop::NodeMap<int> places;     // of a node in `nodes`
  std::vector<uop::Ref> ranges;
  std::vector<uint64_t> free;  // by place: the ranges (bits, places in `ranges`) a node depends on
  struct Stored {
    uop::Ref store;
    std::vector<uop::Ref> ranges;  // of the ENDs about it, outermost first
  };
  std::vector<Stored> stores;  // in the order in which they run

  int place(uop::Ref u) const { return places.at(u); }
};

// Takes apart a kernel; `shape` may have held another one's.
Result<bool> take_apart(uop::Graph& g, uop::Ref kernel, KernelShape& shape);

// The PARAM that an address is an element of.
uop::Ref parameter_of(uop::Ref address);

}  // namespace assay::interpreter
