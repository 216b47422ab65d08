#pragma once

#include <span>
#include <vector>

#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// The lines of a kernel as they are written. Nodes are named as the kernel has them and become what
// a list can hold: SINK and GROUP are not lines, who names a GROUP names what is in it, and a STORE
// between open_if() and close_if() loses its gate.
class LineList {
 public:
  explicit LineList(uop::Graph& g) : g_(g) {}

  // The sources of u were added before.
  void add(uop::Ref u);
  void open_if(uop::Ref gate);
  void close_if();

  std::vector<uop::Ref> take() { return std::move(lines_); }

 private:
  uop::Ref rebuilt(uop::Ref u);
  uop::Ref rebuilt_store(uop::Ref u);
  void flatten(uop::Ref group);
  void write(uop::Ref line);

  uop::Graph& g_;
  std::vector<uop::Ref> lines_;
  std::vector<uop::Ref> sources_;
  std::vector<uop::Ref> stack_;
  uop::NodeMap<uop::Ref> line_of_;   // what a node of the kernel became, where that is another
  uop::NodeMap<uint32_t> place_of_;  // of a line
  uop::Ref if_ = nullptr;            // the one that is open
};

}  // namespace assay::codegen
