#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/schedule/memory_plan.h"
#include "engine/schedule/seen.h"
#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"

namespace assay::props {

// Where a plan put the BUFFERs of a LINEAR, as the two LINEARs say.
class PlanLayout {
 public:
  struct Placed {
    uop::Ref buffer = nullptr;  // of the LINEAR
    uop::Ref arena = nullptr;   // the BUFFER that it is a part of now; itself where it stayed
    int64_t begin = 0;          // in the arena, in bytes
    int64_t end = 0;
    int64_t bytes = 0;  // its own size
    int32_t first = 0;  // the first and the last call that takes it
    int32_t last = 0;
    bool is_copied = false;  // by a COPY
    std::string_view kept;   // why it must stay: "held", "empty", the kind of its device
    bool is_moved() const { return arena != buffer; }
    // The bytes are its own up to here: with copies, as long again as it is used.
    int32_t until() const { return last + 1 + (is_copied && kept.empty() ? last - first + 1 : 0); }
  };

  explicit PlanLayout(const schedule::PlanSeen& seen);

  // What the planned LINEAR has that is no storage put elsewhere; "" where it is the same.
  const std::string& mismatch() const { return mismatch_; }
  const std::vector<Placed>& buffers() const { return placed_; }  // by first use
  // BUFFERs that the plan made, by their numbers.
  const std::vector<uop::Ref>& arenas() const { return arenas_; }
  std::string_view device(uop::Ref u) const;
  int64_t arena_bytes(uop::Ref arena) const;

 private:
  void match(int32_t call);
  void match_argument(int32_t call, uop::Ref before, uop::Ref after, bool is_copy);
  void place(int32_t call, uop::Ref buffer, uop::Ref part, bool is_copy);
  std::string_view reason_to_keep(uop::Ref buffer, int64_t bytes) const;
  void fail(std::string what);

  const schedule::PlanSeen& seen_;
  std::string mismatch_;
  std::vector<Placed> placed_;
  uop::NodeMap<int32_t> numbers_;
  uop::NodeMap<uop::Ref> parts_;
  std::vector<uop::Ref> arenas_;
};

}  // namespace assay::props
