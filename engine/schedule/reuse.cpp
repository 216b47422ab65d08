#include "engine/schedule/reuse.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "engine/check.h"
#include "engine/schedule/at.h"

namespace assay::schedule {
namespace {

using Pairs = std::vector<std::pair<int32_t, int32_t>>;

void sort_once(Pairs& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

// For each buffer, those that had some of its bytes right before it. Who had them earlier still
// comes before these.
Pairs neighbours(std::span<const Placed> placed) {
  std::vector<int32_t> order;
  for (int32_t i = 0; i < static_cast<int32_t>(placed.size()); i++) {
    if (placed[at(i)].size > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::pair(placed[at(a)].users.front(), a) < std::pair(placed[at(b)].users.front(), b);
  });
  struct Piece {
    int64_t end;
    int32_t owner;
  };
  std::map<std::pair<int32_t, int64_t>, Piece> owners;  // by arena and begin
  Pairs pairs;
  for (const int32_t i : order) {
    const Placed& p = placed[at(i)];
    const int64_t end = p.offset + p.size;
    auto it = owners.upper_bound({p.arena, p.offset});
    if (it != owners.begin()) --it;
    while (it != owners.end() && it->first < std::pair(p.arena, end)) {
      const auto [key, piece] = *it;
      if (key.first != p.arena || piece.end <= p.offset) {
        ++it;
        continue;
      }
      ASSAY_CHECK(placed[at(piece.owner)].users.back() < p.users.front(),
                  "buffers {} and {} overlap while both live", piece.owner, i);
      pairs.emplace_back(piece.owner, i);
      it = owners.erase(it);
      if (key.second < p.offset) owners.insert({key, {p.offset, piece.owner}});
      if (end < piece.end) it = owners.insert({{p.arena, end}, piece}).first;
    }
    owners[{p.arena, p.offset}] = {end, i};
  }
  sort_once(pairs);
  return pairs;
}

// Edges as lists of those that a call has to wait before it.
class Order {
 public:
  Order(int32_t calls, std::span<const Edge> edges)
      : next_(at(calls)), before_(at(calls)), mark_(at(calls), -1) {
    for (const Edge& e : edges) {
      next_[at(e.from)].push_back(e.to);
      before_[at(e.to)].push_back(e.from);
    }
  }

  // The users that no edge leads from to another user, or to from another.
  std::vector<int32_t> last(const Placed& p, int32_t mark) { return ends(p, mark, next_); }
  std::vector<int32_t> first(const Placed& p, int32_t mark) { return ends(p, mark, before_); }

  void add(const Pairs& pairs) {
    for (const auto& [from, to] : pairs) next_[at(from)].push_back(to);
  }
  std::span<const int32_t> next(int32_t call) const { return next_[at(call)]; }

 private:
  using Lists = std::vector<std::vector<int32_t>>;

  std::vector<int32_t> ends(const Placed& p, int32_t mark, const Lists& lists) {
    for (const int32_t u : p.users) mark_[at(u)] = mark;
    std::vector<int32_t> out;
    for (const int32_t u : p.users) {
      const bool goes_on = std::any_of(lists[at(u)].begin(), lists[at(u)].end(),
                                       [&](int32_t v) { return mark_[at(v)] == mark; });
      if (!goes_on) out.push_back(u);
    }
    return out;
  }

  Lists next_;
  Lists before_;
  std::vector<int32_t> mark_;
};

// Takes out the pairs that other edges imply. The targets of pairs are taken a batch at a time, and
// for each call between the first source and the last target of a batch, which of them it reaches.
class Reduction {
 public:
  explicit Reduction(int32_t calls) : column_(at(calls), -1), reached_(at(calls)) {}

  Pairs reduce(const Order& order, Pairs pairs) {
    std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second, a.first) < std::pair(b.second, b.first);
    });
    Pairs needed;
    for (size_t begin = 0; begin < pairs.size();) {
      const size_t end = batch_end(pairs, begin);
      reduce_batch(order, std::span(pairs).subspan(begin, end - begin), needed);
      begin = end;
    }
    sort_once(needed);
    return needed;
  }

 private:
  static constexpr size_t kWords = 4;
  using Bits = std::array<uint64_t, kWords>;

  static size_t batch_end(const Pairs& pairs, size_t begin) {
    size_t targets = 1;
    size_t end = begin + 1;
    for (; end < pairs.size(); end++) {
      if (pairs[end].second != pairs[end - 1].second && ++targets > kWords * 64) break;
    }
    return end;
  }

  void reduce_batch(const Order& order, std::span<const std::pair<int32_t, int32_t>> batch,
                    Pairs& needed) {
    int32_t columns = 0;
    int32_t low = batch[0].first;
    for (const auto& [from, to] : batch) {
      low = std::min(low, from);
      if (column_[at(to)] < 0) column_[at(to)] = columns++;
    }
    const int32_t high = batch.back().second;
    std::vector<std::pair<int32_t, int32_t>> from_high(batch.begin(), batch.end());
    std::sort(from_high.rbegin(), from_high.rend());
    auto pair = from_high.begin();
    for (int32_t u = high; u >= low; u--) {
      Bits further{};
      Bits direct{};
      for (const int32_t v : order.next(u)) {
        if (v > high) continue;
        if (column_[at(v)] >= 0) set(direct, column_[at(v)]);
        for (size_t w = 0; w < kWords; w++) further[w] |= reached_[at(v)][w];
      }
      for (; pair != from_high.end() && pair->first == u; ++pair) {
        if (!has(further, column_[at(pair->second)])) needed.push_back(*pair);
      }
      for (size_t w = 0; w < kWords; w++) reached_[at(u)][w] = further[w] | direct[w];
    }
    for (const auto& [from, to] : batch) column_[at(to)] = -1;
  }

  static void set(Bits& bits, int32_t i) { bits[at(i) / 64] |= uint64_t{1} << (i % 64); }
  static bool has(const Bits& bits, int32_t i) { return (bits[at(i) / 64] >> (i % 64) & 1) != 0; }

  std::vector<int32_t> column_;  // of a target in this batch, else -1
  std::vector<Bits> reached_;
};

}  // namespace

std::vector<Edge> reuse_edges(int32_t calls, std::span<const Edge> edges,
                              std::span<const Placed> placed) {
  Order order(calls, edges);
  std::vector<std::vector<int32_t>> first(placed.size());
  std::vector<std::vector<int32_t>> last(placed.size());
  for (size_t i = 0; i < placed.size(); i++) {
    first[i] = order.first(placed[i], static_cast<int32_t>(i));
    last[i] = order.last(placed[i], static_cast<int32_t>(i));
  }
  Pairs pairs;
  for (const auto& [a, b] : neighbours(placed)) {
    for (const int32_t from : last[at(a)]) {
      for (const int32_t to : first[at(b)]) pairs.emplace_back(from, to);
    }
  }
  sort_once(pairs);
  Pairs there;
  for (const Edge& e : edges) there.emplace_back(e.from, e.to);
  sort_once(there);
  Pairs wanted;
  std::set_difference(pairs.begin(), pairs.end(), there.begin(), there.end(),
                      std::back_inserter(wanted));
  order.add(wanted);
  std::vector<Edge> out;
  for (const auto& [from, to] : Reduction(calls).reduce(order, std::move(wanted))) {
    out.push_back({from, to, EdgeKind::Reuse});
  }
  return out;
}

}  // namespace assay::schedule
