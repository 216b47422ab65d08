#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "props/schedule/call_access.h"

namespace assay::props {

// Bytes, as runs that rise and do not touch.
using ByteRuns = std::vector<std::pair<int64_t, int64_t>>;
bool are_disjoint(const ByteRuns& a, const ByteRuns& b);

// Which bytes of the storage a call can read or write at one of its accesses, from the indices in
// its body: exactly where they are terms of ranges with few values, else all that their bounds
// allow, or all bytes of the access.
class Footprints {
 public:
  explicit Footprints(uop::Graph& g) : g_(g) {}

  enum class Kind : uint8_t { Reads, Writes };
  ByteRuns of(uop::Ref call, const CallAccess& access, Kind kind);

 private:
  bool add_places(uop::Ref body, int32_t slot, Kind kind, ByteRuns& elements);
  bool add_place(uop::Ref view, ByteRuns& elements);
  bool add_index(uop::Ref index, ByteRuns& elements);

  uop::Graph& g_;
};

}  // namespace assay::props
