#pragma once

#include <deque>
#include <vector>

#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"

namespace assay::props {

// What a call does with one of its arguments.
struct ParamUse {
  bool reads = false;
  bool writes = false;
};

// The arguments of a CALL that stand for its body's PARAMs: all but those that bind variables.
std::vector<uop::Ref> storage_arguments(uop::Ref call);

// What bodies of calls do with their PARAMs, as the bodies say: a PARAM below the target of a STORE
// is written, one anywhere else is read. A body that is a LINEAR does what its calls do. Of a body
// of any other kind all is read and written.
class BodyUses {
 public:
  // By the number of the PARAM; one that is not in the list is not touched.
  const std::vector<ParamUse>& of(uop::Ref body);
  // Of the storage argument at this place of a call of the body.
  ParamUse of(uop::Ref body, size_t slot);

 private:
  void read_kernel(uop::Ref body, std::vector<ParamUse>& uses);
  void read_calls(uop::Ref linear, std::vector<ParamUse>& uses);

  uop::NodeMap<int32_t> places_;  // of a body, in known_
  std::deque<std::vector<ParamUse>> known_;
  uop::NodeMap<char> met_;
  std::vector<uop::Ref> stack_;
};

// The PARAM, BUFFER or other node that a view is of: movement, BITCAST and INDEX are views.
uop::Ref viewed_storage(uop::Ref u);

}  // namespace assay::props
