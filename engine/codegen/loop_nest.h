#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/result.h"
#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// The loops of a kernel in which each RANGE has one END. Block 0 is the kernel, each other one the
// inside of a loop.
class LoopNest {
 public:
  struct Block {
    uop::Ref range = nullptr;  // null for the kernel
    uop::Ref end = nullptr;
    uint32_t parent = 0;
    uint32_t depth = 0;
  };

  // `order` is a toposort of the kernel; the last of it is its root. An error names a range that
  // has no END or several.
  static Result<LoopNest> of(uop::Graph& g, std::span<const uop::Ref> order);

  std::span<const Block> blocks() const { return blocks_; }
  // The innermost block that u has to stand in. An END stands in the block around its loop, a RANGE
  // in its own.
  uint32_t home(uop::Graph& g, uop::Ref u);
  // The block whose loop `end` closes.
  uint32_t closed_by(uop::Ref end) const { return block_of_.at(end->src[1]); }
  // The block at or around `inner` that stands directly in `outer`, which is around it.
  uint32_t below(uint32_t outer, uint32_t inner) const {
    while (blocks_[inner].parent != outer) inner = blocks_[inner].parent;
    return inner;
  }

 private:
  uint32_t innermost(std::span<const uop::Ref> ranges) const;

  std::vector<Block> blocks_;
  uop::NodeMap<uint32_t> block_of_;     // of a RANGE
  std::span<const uop::Ref> last_set_;  // neighbours mostly share their set
  uint32_t last_home_ = 0;
};

}  // namespace assay::codegen
