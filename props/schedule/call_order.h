#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/uop/uop.h"

namespace assay::props {

// An edge of a LINEAR, as its argument holds it: places in its list of calls.
struct CallEdge {
  int32_t from = 0;
  int32_t to = 0;
  int64_t kind = 0;
};
// "RAW", "WAR", "WAW", "reuse".
std::string_view edge_kind(int64_t kind);

// An error where the argument is no list of edges that go forward, each of a kind that there is.
Result<std::vector<CallEdge>> read_edges(uop::Ref linear);

struct CallPair {
  int32_t from = 0;
  int32_t to = 0;
  auto operator<=>(const CallPair&) const = default;
};

// What order edges enforce, by reachability.
class CallOrder {
 public:
  CallOrder(int32_t calls, std::span<const CallEdge> edges);

  int32_t calls() const { return static_cast<int32_t>(begins_.size()) - 1; }
  std::span<const CallPair> edges() const { return edges_; }  // each pair once, sorted

  // How one call leads to another; both may hold.
  struct Path {
    bool is_edge = false;
    bool is_longer = false;  // over calls between them
    bool is_any() const { return is_edge || is_longer; }
  };
  // For each pair, whose `from` stands before its `to`.
  std::vector<Path> paths(std::span<const CallPair> pairs) const;
  // The pairs that no path orders. Those that are edges cost a look-up each.
  std::vector<CallPair> unordered(std::vector<CallPair> pairs) const;

  // An order that the edges allow in which `second` runs right before `first`, which stands before
  // it and leads nowhere near it; all others as they stand in the list where they can.
  std::vector<int> swapped(int32_t first, int32_t second) const;

  // The same without some of its edges.
  CallOrder without(CallPair edge) const;

 private:
  std::span<const CallPair> from(int32_t call) const;

  std::vector<CallPair> edges_;
  std::vector<uint32_t> begins_;  // in edges_, by call, and their end
};

}  // namespace assay::props
