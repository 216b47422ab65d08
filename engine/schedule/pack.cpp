#include "engine/schedule/pack.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "engine/schedule/at.h"

namespace assay::schedule {
namespace {

// Begins and ends in order of position, ends first.
struct Event {
  int32_t position;
  bool is_begin;
  int32_t span;
  auto operator<=>(const Event&) const = default;
};

std::vector<Event> events_of(std::span<const Span> spans) {
  std::vector<Event> events;
  for (int32_t i = 0; i < static_cast<int32_t>(spans.size()); i++) {
    events.push_back({spans[at(i)].begin, true, i});
    events.push_back({spans[at(i)].end, false, i});
  }
  std::sort(events.begin(), events.end());
  return events;
}

// Free storage below what is in use: the smallest piece that fits is taken, else the top grows.
class Free {
 public:
  int64_t take(int64_t size) {
    const auto best = by_size_.lower_bound({size, 0});
    if (best == by_size_.end()) return grow(size);
    const auto [free, offset] = *best;
    remove(offset, free);
    if (free > size) add(offset + size, free - size);
    return offset;
  }

  void give(int64_t offset, int64_t size) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      const auto [before, free] = *std::prev(next);
      if (before + free == offset) {
        remove(before, free);
        offset = before;
        size += free;
      }
    }
    next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && offset + size == next->first) {
      const int64_t more = next->second;
      remove(next->first, more);
      size += more;
    }
    add(offset, size);
  }

  int64_t top() const { return top_; }

 private:
  // The piece below the top, if it is free, is part of what the top gives.
  int64_t grow(int64_t size) {
    int64_t offset = top_;
    if (!by_offset_.empty()) {
      const auto [last, free] = *by_offset_.rbegin();
      if (last + free == top_) {
        remove(last, free);
        offset = last;
      }
    }
    top_ = offset + size;
    return offset;
  }
  void add(int64_t offset, int64_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void remove(int64_t offset, int64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t top_ = 0;
};

// As an allocator would that sees one position after the other.
Packing in_turn(std::span<const Span> spans) {
  Packing p{std::vector<int64_t>(spans.size()), 0, "in turn"};
  Free free;
  for (const Event& e : events_of(spans)) {
    const int64_t size = spans[at(e.span)].size;
    if (size == 0) continue;
    if (e.is_begin) {
      p.offsets[at(e.span)] = free.take(size);
    } else {
      free.give(p.offsets[at(e.span)], size);
    }
  }
  p.height = free.top();
  return p;
}

// Which of the gaps that a span fits in it gets.
enum class Gap : uint8_t { Lowest, Smallest };

// Places spans one after the other, in this order, each in a gap between those placed that it
// meets. Gives up where the height reaches that of a packing there is, or steps run out.
class OneByOne {
 public:
  OneByOne(std::span<const Span> spans, Gap gap) : spans_(spans), gap_(gap) {
    placed_.reserve(spans.size());
  }

  std::optional<Packing> pack(std::span<const int32_t> order, int64_t below, size_t& steps) {
    Packing p{std::vector<int64_t>(spans_.size()), 0, ""};
    for (const int32_t i : order) {
      const Span& s = spans_[at(i)];
      if (s.size == 0) continue;
      const int64_t offset = place(s, steps);
      p.offsets[at(i)] = offset;
      p.height = std::max(p.height, offset + s.size);
      if (p.height >= below || steps == 0) return std::nullopt;
      const auto after = std::upper_bound(placed_.begin(), placed_.end(), offset,
                                          [](int64_t o, const Piece& x) { return o < x.offset; });
      placed_.insert(after, {offset, offset + s.size, s.begin, s.end});
    }
    return p;
  }

 private:
  struct Piece {
    int64_t offset;
    int64_t top;
    int32_t begin;
    int32_t end;
  };

  int64_t place(const Span& s, size_t& steps) const {
    int64_t top = 0;
    int64_t best = -1;
    int64_t best_size = INT64_MAX;
    size_t looked = 0;
    for (const Piece& x : placed_) {
      looked++;
      if (x.end <= s.begin || s.end <= x.begin) continue;
      const int64_t free = x.offset - top;
      if (free >= s.size && free < best_size) {
        best = top;
        best_size = free;
        if (gap_ == Gap::Lowest) break;
      }
      top = std::max(top, x.top);
    }
    steps -= std::min(steps, looked);
    return best >= 0 ? best : top;
  }

  std::span<const Span> spans_;
  Gap gap_;
  std::vector<Piece> placed_;  // by offset
};

// An order in which to place spans: by what, largest first.
struct Way {
  std::string_view name;
  Gap gap;
  double (*weight)(const Span& s);
};

constexpr std::array<Way, 5> kWays = {{
    {"largest", Gap::Lowest, [](const Span& s) { return static_cast<double>(s.size); }},
    {"area", Gap::Lowest,
     [](const Span& s) { return static_cast<double>(s.size) * (s.end - s.begin); }},
    {"longest", Gap::Lowest, [](const Span& s) { return static_cast<double>(s.end - s.begin); }},
    {"largest, tight", Gap::Smallest, [](const Span& s) { return static_cast<double>(s.size); }},
    {"first", Gap::Lowest, [](const Span& s) { return -static_cast<double>(s.begin); }},
}};

std::vector<int32_t> order_of(std::span<const Span> spans, const Way& way) {
  std::vector<int32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](int32_t i) {
    const Span& s = spans[at(i)];
    return std::tuple(-way.weight(s), -s.size, s.begin, s.end, i);
  };
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return rank(a) < rank(b); });
  return order;
}

}  // namespace

int64_t lowest_height(std::span<const Span> spans) {
  int64_t now = 0;
  int64_t most = 0;
  for (const Event& e : events_of(spans)) {
    now += e.is_begin ? spans[at(e.span)].size : -spans[at(e.span)].size;
    most = std::max(most, now);
  }
  return most;
}

Packing pack(std::span<const Span> spans) {
  const int64_t lowest = lowest_height(spans);
  Packing best = in_turn(spans);
  size_t steps = 32'000'000;
  for (const Way& way : kWays) {
    if (best.height - lowest <= lowest / 128) break;  // what is left is not worth the search
    auto found = OneByOne(spans, way.gap).pack(order_of(spans, way), best.height, steps);
    if (!found) continue;
    best = std::move(*found);
    best.by = way.name;
  }
  return best;
}

}  // namespace assay::schedule
