#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::uop {

// Some nodes of one graph. It grows as nodes are put in, so it may be kept while the graph grows,
// and is emptied in no time, so it may be used again.
class NodeSet {
 public:
  bool has(Ref u) const { return u->id < stamps_.size() && stamps_[u->id] == now_; }
  // Whether u was not in the set before.
  bool insert(Ref u) {
    if (u->id >= stamps_.size()) stamps_.resize(std::max<size_t>(stamps_.size() * 2, u->id + 256));
    return std::exchange(stamps_[u->id], now_) != now_;
  }
  void clear() {
    if (++now_ != 0) return;
    stamps_.assign(stamps_.size(), 0);
    now_ = 1;
  }
  // For the ids of how many nodes there is room.
  size_t room() const { return stamps_.size(); }

 private:
  std::vector<uint32_t> stamps_;  // the node is in the set where its stamp is now_
  uint32_t now_ = 1;
};

// A side table: a T for each of such nodes.
template <typename T>
class NodeMap {
 public:
  bool has(Ref u) const { return nodes_.has(u); }
  // The node is in the map.
  const T& at(Ref u) const { return values_[u->id]; }
  const T* find(Ref u) const { return has(u) ? &values_[u->id] : nullptr; }
  void set(Ref u, T value) {
    nodes_.insert(u);
    if (u->id >= size_) grow();
    values_[u->id] = std::move(value);
  }
  void clear() { nodes_.clear(); }

 private:
  void grow() {
    const size_t size = nodes_.room();
    auto larger = std::make_unique_for_overwrite<T[]>(size);
    std::move(values_.get(), values_.get() + size_, larger.get());
    values_ = std::move(larger);
    size_ = size;
  }

  NodeSet nodes_;
  std::unique_ptr<T[]> values_;  // set where the node is in the map
  size_t size_ = 0;              // of values_
};

// The value of a fact at root: computed from the bottom up for every node below it that has none
// yet, without recursion. `compute(u)` may ask for the fact of u's sources only.
template <typename T, typename Compute>
const T& derive(NodeMap<T>& map, Ref root, Compute compute) {
  if (const T* known = map.find(root)) return *known;
  std::vector<Ref> stack = {root};
  while (!stack.empty()) {
    const Ref u = stack.back();
    bool ready = true;
    if (!map.has(u)) {
      for (size_t i = u->src.size(); i-- > 0;) {
        if (map.has(u->src[i])) continue;
        stack.push_back(u->src[i]);
        ready = false;
      }
      if (ready) map.set(u, compute(u));
    }
    if (ready) stack.pop_back();
  }
  return map.at(root);
}

}  // namespace assay::uop
