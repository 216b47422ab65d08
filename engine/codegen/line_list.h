#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/uop/facts.h"
#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// The lines of a kernel as they are written. Nodes are named as the kernel has them and become what
// a list can hold: SINK and GROUP are not lines, who names a GROUP names what is in it, and a STORE
// between open_if() and close_if() loses its gate.
class LineList {
 public:
  // g.facts().positions says where each of the `size` nodes of the kernel stands in its toposort.
  LineList(uop::Graph& g, size_t size) : g_(g), kernel_(g.facts().positions), nodes_(size) {
    lines_.reserve(size);
  }

  // The sources of u were added before.
  void add(uop::Ref u);
  void open_if(uop::Ref gate);
  void close_if();

  std::vector<uop::Ref> take() { return std::move(lines_); }

 private:
  static constexpr uint32_t kNowhere = ~uint32_t{0};
  struct Node {
    uop::Ref line = nullptr;    // what it became, where that is another node
    uint32_t place = kNowhere;  // in the list
  };

  uop::Ref line_of(uop::Ref u) const;
  uint32_t place_of(uop::Ref line) const;
  uop::Ref rebuilt(uop::Ref u);
  uop::Ref rebuilt_store(uop::Ref u);
  void flatten(uop::Ref group);
  void write(uop::Ref line);

  uop::Graph& g_;
  const uop::NodeMap<uint32_t>& kernel_;
  std::vector<uop::Ref> lines_;
  std::vector<uop::Ref> sources_;
  std::vector<uop::Ref> stack_;
  std::vector<Node> nodes_;                        // of the kernel, by position
  std::unordered_map<uop::Ref, uint32_t> places_;  // of lines that are no nodes of the kernel
  uop::Ref if_ = nullptr;                          // the one that is open
};

}  // namespace assay::codegen
