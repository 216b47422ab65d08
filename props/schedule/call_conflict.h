#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "props/schedule/call_access.h"
#include "props/schedule/call_order.h"
#include "props/schedule/footprint.h"

namespace assay::props {

enum class ConflictKind : uint8_t { Raw, War, Waw };
std::string_view to_text(ConflictKind kind);

// Two calls of a list touch the same bytes, at least one to write them: the later must come after.
struct CallConflict {
  int32_t before = 0;
  int32_t after = 0;
  ConflictKind kind = ConflictKind::Raw;
  int32_t storage = 0;  // of CallAccesses
  int64_t begin = 0;    // the bytes that both touch
  int64_t end = 0;
  CallPair pair() const { return {before, after}; }
};

// Those from which all others follow: who reads bytes comes after who wrote them last, and who
// writes bytes after who wrote them last and who read them since. Where all of these are ordered,
// so are any two calls that touch the same bytes. Each pair of calls once; by `after`.
std::vector<CallConflict> direct_conflicts(const CallAccesses& accesses);

// All of a storage, each pair of calls once. Nothing where there are more than `most`.
std::optional<std::vector<CallConflict>> all_conflicts(const CallAccesses& accesses,
                                                       int32_t storage, size_t most);

// Whether what the two calls do to the storage meets in a byte that one of them writes, as far as
// their bodies tell: false is certain.
bool may_meet(const CallAccesses& accesses, const CallConflict& conflict, Footprints& footprints);

}  // namespace assay::props
