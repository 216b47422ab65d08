#include "props/schedule/call_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::props {
namespace {

constexpr std::array<std::string_view, 4> kEdgeKinds = {"RAW", "WAR", "WAW", "reuse"};
constexpr size_t kReachWords = 8;
constexpr size_t kReachTargets = kReachWords * 64;  // that are looked for at once
using ReachBits = std::array<uint64_t, kReachWords>;

size_t spot(int32_t i) { return static_cast<size_t>(i); }

void join(ReachBits& into, const ReachBits& more) {
  for (size_t w = 0; w < kReachWords; w++) into[w] |= more[w];
}
bool has_bit(const ReachBits& bits, int32_t i) { return (bits[spot(i) / 64] >> (i % 64) & 1) != 0; }

}  // namespace

std::string_view edge_kind(int64_t kind) { return kEdgeKinds[static_cast<size_t>(kind)]; }

Result<std::vector<CallEdge>> read_edges(uop::Ref linear) {
  std::vector<CallEdge> edges;
  if (linear->arg.kind != uop::ArgKind::Info) return edges;
  const std::span<const int64_t> numbers = linear->arg.numbers();
  const auto calls = static_cast<int64_t>(linear->src.size());
  if (numbers.size() % 3 != 0) return Error{fmt::format("{} numbers are no edges", numbers.size())};
  edges.reserve(numbers.size() / 3);
  for (size_t i = 0; i < numbers.size(); i += 3) {
    const int64_t from = numbers[i];
    const int64_t to = numbers[i + 1];
    const bool is_forward = 0 <= from && from < to && to < calls;
    if (!is_forward || numbers[i + 2] < 0 || numbers[i + 2] >= int64_t{kEdgeKinds.size()}) {
      return Error{fmt::format("edge {} {} {} of {} calls", from, to, numbers[i + 2], calls)};
    }
    edges.push_back({static_cast<int32_t>(from), static_cast<int32_t>(to), numbers[i + 2]});
  }
  return edges;
}

CallOrder::CallOrder(int32_t calls, std::span<const CallEdge> edges) : begins_(spot(calls) + 1) {
  edges_.reserve(edges.size());
  for (const CallEdge& e : edges) edges_.push_back({e.from, e.to});
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  for (const CallPair& e : edges_) begins_[spot(e.from) + 1]++;
  for (size_t i = 1; i < begins_.size(); i++) begins_[i] += begins_[i - 1];
}

std::span<const CallPair> CallOrder::from(int32_t call) const {
  const uint32_t begin = begins_[spot(call)];
  return std::span(edges_).subspan(begin, begins_[spot(call) + 1] - begin);
}

// The targets of pairs are taken a batch at a time, and for each call between the first source and
// the last target of a batch, which of them it leads to: by an edge, and over others.
std::vector<CallOrder::Path> CallOrder::paths(std::span<const CallPair> pairs) const {
  std::vector<Path> found(pairs.size());
  std::vector<uint32_t> order(pairs.size());
  for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return CallPair{pairs[a].to, pairs[a].from} < CallPair{pairs[b].to, pairs[b].from};
  });
  std::vector<int32_t> column(spot(calls()), -1);
  std::vector<ReachBits> direct;
  std::vector<ReachBits> further;
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    int32_t low = calls();
    int32_t columns = 0;
    for (; end < order.size(); end++) {
      const CallPair& p = pairs[order[end]];
      if (column[spot(p.to)] < 0) {
        if (columns == static_cast<int32_t>(kReachTargets)) break;
        column[spot(p.to)] = columns++;
      }
      low = std::min(low, p.from);
    }
    const int32_t high = pairs[order[end - 1]].to;
    direct.assign(spot(high - low) + 1, {});
    further.assign(spot(high - low) + 1, {});
    for (int32_t u = high - 1; u >= low; u--) {
      for (const CallPair& e : from(u)) {
        if (e.to > high) break;
        const int32_t c = column[spot(e.to)];
        if (c >= 0) direct[spot(u - low)][spot(c) / 64] |= uint64_t{1} << (c % 64);
        join(further[spot(u - low)], direct[spot(e.to - low)]);
        join(further[spot(u - low)], further[spot(e.to - low)]);
      }
    }
    for (size_t i = begin; i < end; i++) {
      const CallPair& p = pairs[order[i]];
      const int32_t c = column[spot(p.to)];
      found[order[i]] = {has_bit(direct[spot(p.from - low)], c),
                         has_bit(further[spot(p.from - low)], c)};
    }
    for (size_t i = begin; i < end; i++) column[spot(pairs[order[i]].to)] = -1;
    begin = end;
  }
  return found;
}

std::vector<CallPair> CallOrder::unordered(std::vector<CallPair> pairs) const {
  std::erase_if(pairs, [&](const CallPair& p) {
    const std::span<const CallPair> out = from(p.from);
    return std::binary_search(out.begin(), out.end(), p);
  });
  if (pairs.empty()) return pairs;
  const std::vector<Path> found = paths(pairs);
  std::vector<CallPair> open;
  for (size_t i = 0; i < pairs.size(); i++) {
    if (!found[i].is_any()) open.push_back(pairs[i]);
  }
  return open;
}

std::vector<int> CallOrder::swapped(int32_t first, int32_t second) const {
  std::vector<char> waits(spot(calls()));
  waits[spot(first)] = 1;
  std::vector<int> order;
  for (int32_t u = 0; u <= second; u++) {
    if (waits[spot(u)] == 0) {
      order.push_back(u);
      continue;
    }
    for (const CallPair& e : from(u)) waits[spot(e.to)] = 1;
  }
  for (int32_t u = first; u < calls(); u++) {
    if (u > second || waits[spot(u)] != 0) order.push_back(u);
  }
  return order;
}

CallOrder CallOrder::without(CallPair edge) const {
  std::vector<CallEdge> kept;
  for (const CallPair& e : edges_) {
    if (e != edge) kept.push_back({e.from, e.to, 0});
  }
  return {calls(), kept};
}

}  // namespace assay::props
