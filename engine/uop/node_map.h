#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::uop {

// A side table: a T for some nodes of one graph, indexed by their ids. It grows as nodes are set,
// so it may be kept while the graph grows, and is emptied in no time, so it may be used again.
template <typename T>
class NodeMap {
 public:
  bool has(Ref u) const { return u->id < stamps_.size() && stamps_[u->id] == now_; }
  // The node is in the map.
  const T& at(Ref u) const { return values_[u->id]; }
  const T* find(Ref u) const { return has(u) ? &values_[u->id] : nullptr; }
  void set(Ref u, T value) {
    if (u->id >= stamps_.size()) grow(u->id);
    values_[u->id] = std::move(value);
    stamps_[u->id] = now_;
  }
  void clear() {
    if (++now_ != 0) return;
    stamps_.assign(stamps_.size(), 0);
    now_ = 1;
  }

 private:
  void grow(uint32_t id) {
    const size_t old = stamps_.size();
    const size_t size = std::max(old * 2, id + size_t{256});
    auto larger = std::make_unique_for_overwrite<T[]>(size);
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (old != 0) std::memcpy(static_cast<void*>(larger.get()), values_.get(), old * sizeof(T));
    } else {
      std::move(values_.get(), values_.get() + old, larger.get());
    }
    values_ = std::move(larger);
    stamps_.resize(size);
  }

  std::unique_ptr<T[]> values_;   // set where the node is in the map
  std::vector<uint32_t> stamps_;  // the node is in the map where its stamp is now_
  uint32_t now_ = 1;
};

// Some nodes of one graph.
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

 private:
  std::vector<uint32_t> stamps_;  // the node is in the set where its stamp is now_
  uint32_t now_ = 1;
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
