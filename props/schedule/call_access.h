#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"
#include "props/schedule/param_use.h"

namespace assay::props {

// What an argument of a call is a view of: bytes of storage, which is a BUFFER or a PARAM.
struct ArgumentBytes {
  uop::Ref storage = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
  bool is_whole = true;  // all bytes between are of the view; else only some
};
// One for each storage below the argument: more where it is a stack of devices. Sizes of symbolic
// shapes are the largest they can be; where a view begins at a symbolic place it may be anywhere.
std::vector<ArgumentBytes> argument_bytes(uop::Graph& g, uop::Ref argument);
// The bytes of a BUFFER or PARAM; INT64_MAX where nobody can say.
int64_t storage_bytes(uop::Graph& g, uop::Ref storage);

// A call touches bytes.
struct CallAccess {
  int32_t call = 0;
  int32_t slot = 0;  // of the call's storage arguments
  int32_t storage = 0;
  int64_t begin = 0;
  int64_t end = 0;
  bool is_whole = true;
  ParamUse use;
};

// What the calls of a LINEAR touch.
class CallAccesses {
 public:
  CallAccesses(uop::Graph& g, uop::Ref linear);

  uop::Graph& graph() const { return g_; }
  uop::Ref linear() const { return linear_; }
  int32_t calls() const { return static_cast<int32_t>(linear_->src.size()); }
  std::span<const CallAccess> all() const { return accesses_; }  // in the order of the list
  std::span<const CallAccess> of(int32_t call) const;
  std::span<const uop::Ref> storages() const { return storages_; }
  // The accesses of a storage, as places in all(), in order.
  std::span<const uint32_t> on(int32_t storage) const {
    return by_storage_[static_cast<size_t>(storage)];
  }

 private:
  int32_t number(uop::Ref storage);

  uop::Graph& g_;
  uop::Ref linear_;
  BodyUses uses_;
  uop::NodeMap<int32_t> numbers_;
  std::vector<uop::Ref> storages_;
  std::vector<CallAccess> accesses_;
  std::vector<uint32_t> begins_;
  std::vector<std::vector<uint32_t>> by_storage_;
};

}  // namespace assay::props
