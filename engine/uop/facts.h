#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_set>

#include "engine/uop/node_map.h"

namespace assay::uop {

// The structure of a node and all below it, in 128 bits: equal in any two graphs exactly when the
// structures are equal (up to collisions of the hash).
struct Key {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Key&) const = default;
};

// The values a node of an integer type can take lie between lo and hi, both inclusive. An end that
// leaves 64 bits at type `index` is infinite.
struct Bounds {
  Int128 lo = 0;
  Int128 hi = 0;
  bool operator==(const Bounds&) const = default;
};

// The same for a float: all values but NaN lie between lo and hi; may_be_nan says whether NaN is
// one of them.
struct FloatBounds {
  double lo = 0;
  double hi = 0;
  bool may_be_nan = true;
};

// A multiple of a term.
struct Multiple {
  Ref atom;
  int64_t factor;
};

// The sum that a node is (sum.h), where it is one.
struct SumOfNode {
  bool is_sum = false;
  int64_t constant = 0;
  std::span<const Multiple> terms;
};

// Lists of nodes of one graph, each held once: equal lists are one span, and its address is the
// same for as long as the graph lives.
class RefLists {
 public:
  std::span<const Ref> intern(Arena& arena, std::span<const Ref> list) {
    if (list.empty()) return {};
    const auto found = lists_.find(list);
    if (found != lists_.end()) return *found;
    return *lists_.insert(arena.copy(list)).first;
  }

 private:
  struct Hash {
    size_t operator()(std::span<const Ref> list) const {
      uint64_t h = list.size();
      for (const Ref u : list) h = (h ^ u->id) * 0x9E3779B97F4A7C15U ^ h >> 29;
      return h;
    }
  };
  struct Equal {
    bool operator()(std::span<const Ref> a, std::span<const Ref> b) const {
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
  };
  std::unordered_set<std::span<const Ref>, Hash, Equal> lists_;
};

// What is derived from a node's structure: each once, on demand, by the function named beside it.
struct Facts {
  NodeMap<Key> keys;                     // key()           key.h
  NodeMap<Bounds> bounds;                // bounds()        bounds.h
  NodeMap<FloatBounds> float_bounds;     // float_bounds()  bounds.h
  NodeMap<uint8_t> may_be_invalid;       // may_be_invalid() bounds.h
  NodeMap<uint8_t> may_be_unspecified;   // may_be_unspecified() unspecified.h
  NodeMap<SumOfNode> sums;               // sum_of()        sum.h
  NodeMap<std::span<const Ref>> ranges;  // ranges()        scope.h
  NodeMap<std::span<const Ref>> shapes;  // shape()         shape.h
  NodeMap<Ref> devices;                  // device()        scope.h
  NodeMap<Ref> buffers;                  // buffer()        scope.h
  NodeMap<uint8_t> local_stores;         // local_stores()  codegen/barriers.cpp
  NodeMap<OpSet> ops;                    // breach()        spec.h: at and below a node
  NodeMap<uint32_t> kept;                // breach()        spec.h: invariants, a bit each
  RefLists lists;                        // what shapes and ranges point to

  NodeSet visited;              // scratch of one walk at a time
  NodeMap<Ref> rebuilt;         // scratch of one rebuild at a time
  NodeMap<uint32_t> counts;     // scratch of one count at a time
  NodeMap<uint32_t> positions;  // scratch: where nodes stand in the order of one walk at a time
};

}  // namespace assay::uop
