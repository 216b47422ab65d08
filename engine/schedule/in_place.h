#pragma once

#include <vector>

#include "engine/uop/node_map.h"

namespace assay::schedule {

// Whether a kernel reads the buffer that it writes: whether its first parameter occurs other than
// as the base of what is stored to. What is no SINK may do anything. Each body is looked at once.
class InPlace {
 public:
  bool operator()(uop::Ref body);

 private:
  bool reads_first(uop::Ref body);
  void push(std::span<const uop::Ref> nodes);

  uop::NodeMap<char> known_;
  uop::NodeMap<char> visited_;
  std::vector<uop::Ref> stack_;
};

}  // namespace assay::schedule
