#include "props/schedule/call_conflict.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace assay::props {
namespace {

constexpr std::array<std::string_view, 3> kConflictKinds = {"RAW", "WAR", "WAW"};

// What became of a run of bytes so far.
struct Segment {
  int64_t end = 0;
  int32_t writer = -1;
  std::vector<int32_t> readers;  // since
};
using Segments = std::map<int64_t, Segment>;  // by begin; they do not overlap

// Makes `at` an end of segments, where it lies inside one.
void split(Segments& segments, int64_t at) {
  auto it = segments.upper_bound(at);
  if (it == segments.begin()) return;
  --it;
  if (it->first == at || it->second.end <= at) return;
  Segment right = it->second;
  it->second.end = at;
  segments.emplace_hint(std::next(it), at, std::move(right));
}

// Calls of the segments from begin to end, which exist after this.
template <typename Visit>
void for_each_segment(Segments& segments, int64_t begin, int64_t end, Visit visit) {
  split(segments, begin);
  split(segments, end);
  int64_t at = begin;
  auto it = segments.lower_bound(begin);
  while (at < end) {
    if (it == segments.end() || it->first > at) {
      const int64_t until = it == segments.end() ? end : std::min(end, it->first);
      it = segments.emplace_hint(it, at, Segment{until, -1, {}});
    }
    visit(it->first, it->second);
    at = it->second.end;
    ++it;
  }
}

class ConflictSweep {
 public:
  explicit ConflictSweep(const CallAccesses& accesses)
      : accesses_(accesses),
        segments_(accesses.storages().size()),
        found_at_(static_cast<size_t>(accesses.calls()), -1) {}

  std::vector<CallConflict> run() {
    for (int32_t k = 0; k < accesses_.calls(); k++) {
      first_ = conflicts_.size();
      for (const CallAccess& a : accesses_.of(k)) look_back(a);
      for (size_t i = first_; i < conflicts_.size(); i++) {
        found_at_[static_cast<size_t>(conflicts_[i].before)] = -1;
      }
      // What a call only reads is noted before what it writes, so that its own reads of what it
      // writes are not left among the readers.
      for (const bool writes : {false, true}) {
        for (const CallAccess& a : accesses_.of(k)) {
          if (a.use.writes == writes) note(a);
        }
      }
    }
    return std::move(conflicts_);
  }

 private:
  Segments& of(const CallAccess& a) { return segments_[static_cast<size_t>(a.storage)]; }

  void look_back(const CallAccess& a) {
    for_each_segment(of(a), a.begin, a.end, [&](int64_t begin, const Segment& s) {
      // Readers since come after the writer themselves.
      if (s.writer >= 0 && (a.use.reads || s.readers.empty())) {
        add(s.writer, a, a.use.reads ? ConflictKind::Raw : ConflictKind::Waw, begin, s.end);
      }
      if (!a.use.writes) return;
      for (const int32_t r : s.readers) add(r, a, ConflictKind::War, begin, s.end);
    });
  }

  void add(int32_t before, const CallAccess& a, ConflictKind kind, int64_t begin, int64_t end) {
    int32_t& found = found_at_[static_cast<size_t>(before)];
    if (found < 0) {
      found = static_cast<int32_t>(conflicts_.size() - first_);
      conflicts_.push_back({before, a.call, kind, a.storage, begin, end});
      return;
    }
    CallConflict& known = conflicts_[first_ + static_cast<size_t>(found)];
    if (kind < known.kind) known = {before, a.call, kind, a.storage, begin, end};
  }

  void note(const CallAccess& a) {
    for_each_segment(of(a), a.begin, a.end, [&](int64_t, Segment& s) {
      if (a.use.writes) {
        s.writer = a.call;
        s.readers.clear();
      } else if (s.readers.empty() || s.readers.back() != a.call) {
        s.readers.push_back(a.call);
      }
    });
  }

  const CallAccesses& accesses_;
  std::vector<Segments> segments_;
  std::vector<int32_t> found_at_;  // of an earlier call: its conflict with this one, from first_
  std::vector<CallConflict> conflicts_;
  size_t first_ = 0;  // of this call's
};

ConflictKind kind_between(const CallAccess& before, const CallAccess& after) {
  if (before.use.writes && after.use.reads) return ConflictKind::Raw;
  return before.use.writes ? ConflictKind::Waw : ConflictKind::War;
}

// What an earlier and a later access have to do with one another.
std::optional<CallConflict> between(const CallAccess& a, const CallAccess& b) {
  const bool meet = a.begin < b.end && b.begin < a.end;
  if (a.call == b.call || !meet || (!a.use.writes && !b.use.writes)) return std::nullopt;
  return CallConflict{a.call,
                      b.call,
                      kind_between(a, b),
                      a.storage,
                      std::max(a.begin, b.begin),
                      std::min(a.end, b.end)};
}

}  // namespace

std::string_view to_text(ConflictKind kind) { return kConflictKinds[static_cast<size_t>(kind)]; }

std::vector<CallConflict> direct_conflicts(const CallAccesses& accesses) {
  return ConflictSweep(accesses).run();
}

std::optional<std::vector<CallConflict>> all_conflicts(const CallAccesses& accesses,
                                                       int32_t storage, size_t most) {
  const std::span<const uint32_t> on = accesses.on(storage);
  std::vector<CallConflict> all;
  for (size_t j = 0; j < on.size(); j++) {
    for (size_t i = 0; i < j; i++) {
      const auto conflict = between(accesses.all()[on[i]], accesses.all()[on[j]]);
      if (conflict) all.push_back(*conflict);
      if (all.size() > most) return std::nullopt;
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const CallConflict& a, const CallConflict& b) {
    return std::tuple(a.after, a.before, a.kind) < std::tuple(b.after, b.before, b.kind);
  });
  const auto is_same = [](const CallConflict& a, const CallConflict& b) {
    return a.pair() == b.pair();
  };
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  return all;
}

bool may_meet(const CallAccesses& accesses, const CallConflict& conflict, Footprints& footprints) {
  using Kind = Footprints::Kind;
  const uop::Ref first = accesses.linear()->src[static_cast<size_t>(conflict.before)];
  const uop::Ref second = accesses.linear()->src[static_cast<size_t>(conflict.after)];
  for (const CallAccess& a : accesses.of(conflict.before)) {
    for (const CallAccess& b : accesses.of(conflict.after)) {
      if (a.storage != conflict.storage || b.storage != conflict.storage) continue;
      if (!between(a, b)) continue;
      const ByteRuns a_writes = footprints.of(first, a, Kind::Writes);
      const ByteRuns b_writes = footprints.of(second, b, Kind::Writes);
      if (!are_disjoint(a_writes, b_writes)) return true;
      if (!are_disjoint(a_writes, footprints.of(second, b, Kind::Reads))) return true;
      if (!are_disjoint(footprints.of(first, a, Kind::Reads), b_writes)) return true;
    }
  }
  return false;
}

}  // namespace assay::props
