#include "engine/uop/scope.h"

#include <algorithm>
#include <vector>

#include "engine/uop/key.h"

namespace assay::uop {
namespace {

using Ranges = std::span<const Ref>;

bool same_ranges(Ranges a, Ranges b) { return a.data() == b.data() && a.size() == b.size(); }

// The source that MSELECT takes from an MSTACK, or nullptr where it takes from anything else.
Ref selected(Ref u) {
  if (u->op != Op::MSelect || u->src[0]->op != Op::MStack) return nullptr;
  const auto k = static_cast<uint64_t>(u->arg.number());
  return k < u->src[0]->src.size() ? u->src[0]->src[k] : nullptr;
}

class RangeSets {
 public:
  explicit RangeSets(Graph& g) : g_(g) {}

  Ranges of(Ref u) {
    switch (u->op) {
      case Op::Range: return with(united(u->src), u);
      case Op::Call: return united(u->src.subspan(1));
      case Op::End:
      case Op::Reduce:
      case Op::Stage: return without(united(u->src), u->src.subspan(1));
      default: return united(u->src);
    }
  }

 private:
  Ranges known(Ref u) const { return g_.facts().ranges.at(u); }
  Ranges interned(Ranges set) { return g_.facts().lists.intern(g_.arena(), set); }

  bool before(Ref a, Ref b) {
    if (a->arg.number() != b->arg.number()) return a->arg.number() < b->arg.number();
    if (a->arg.axis_type() != b->arg.axis_type()) return a->arg.axis_type() < b->arg.axis_type();
    return comes_before(g_, a, b);
  }
  auto order() {
    return [this](Ref a, Ref b) { return before(a, b); };
  }

  // Sources mostly share one set, so only sets that differ from the one before are merged, all at
  // once: a fan of as many ranges as sources costs one sort.
  Ranges united(std::span<const Ref> sources) {
    Ranges first;
    Ranges last;
    room_.clear();
    for (const Ref s : sources) {
      const Ranges set = known(s);
      if (set.empty() || same_ranges(set, first) || same_ranges(set, last)) continue;
      if (first.empty()) {
        first = set;
        continue;
      }
      last = set;
      room_.insert(room_.end(), set.begin(), set.end());
    }
    if (room_.empty()) return first;
    room_.insert(room_.end(), first.begin(), first.end());
    std::sort(room_.begin(), room_.end(), order());
    room_.erase(std::unique(room_.begin(), room_.end()), room_.end());
    return interned(room_);
  }

  Ranges with(Ranges set, Ref range) {
    room_.assign(set.begin(), set.end());
    room_.insert(std::upper_bound(room_.begin(), room_.end(), range, order()), range);
    return interned(room_);
  }

  Ranges without(Ranges set, std::span<const Ref> closing) {
    closed_.clear();
    for (const Ref s : closing) {
      if (s->op == Op::Range) {
        closed_.push_back(s);
      } else {
        closed_.insert(closed_.end(), known(s).begin(), known(s).end());
      }
    }
    if (closed_.empty()) return set;
    std::sort(closed_.begin(), closed_.end(), order());
    room_.clear();
    std::set_difference(set.begin(), set.end(), closed_.begin(), closed_.end(),
                        std::back_inserter(room_), order());
    return interned(room_);
  }

  Graph& g_;
  std::vector<Ref> room_;
  std::vector<Ref> closed_;
};

Ref device_of(const NodeMap<Ref>& known, Ref u) {
  if (u->op == Op::Device) return u;
  if (u->op == Op::Copy || u->op == Op::AllReduce) return known.at(u->src[1]);
  if (const Ref one = selected(u)) return known.at(one);
  const size_t first = u->op == Op::Call ? 1 : 0;
  for (const Ref s : u->src.subspan(first)) {
    if (const Ref found = known.at(s)) return found;
  }
  return nullptr;
}

// What u is a view of, one step down.
Ref viewed(Ref u) {
  if (is_movement(u->op)) return u->src[0];
  switch (u->op) {
    case Op::Bitcast:
    case Op::Index:
    case Op::After: return u->src[0];
    case Op::MSelect: {
      const Ref one = selected(u);
      return one != nullptr ? one : u->src[0];
    }
    default: return nullptr;
  }
}

}  // namespace

std::span<const Ref> ranges(Graph& g, Ref u) {
  NodeMap<Ranges>& known = g.facts().ranges;
  if (const Ranges* set = known.find(u)) return *set;
  RangeSets sets(g);
  return derive(known, u, [&](Ref v) { return sets.of(v); });
}

bool depends_on(Graph& g, Ref u, Ref range) {
  const std::span<const Ref> all = ranges(g, u);
  return std::ranges::find(all, range) != all.end();
}

Ref device(Graph& g, Ref u) {
  NodeMap<Ref>& known = g.facts().devices;
  return derive(known, u, [&](Ref v) { return device_of(known, v); });
}

Ref buffer(Graph& g, Ref u) {
  NodeMap<Ref>& known = g.facts().buffers;
  std::vector<Ref> chain;
  Ref at = u;
  while (at != nullptr && !known.has(at)) {
    chain.push_back(at);
    at = viewed(at);
  }
  Ref found = at != nullptr ? known.at(at) : nullptr;
  if (at == nullptr) {
    const Ref last = chain.back();
    if (last->op == Op::Buffer || last->op == Op::Param) found = last;
  }
  for (const Ref v : chain) known.set(v, found);
  return found;
}

}  // namespace assay::uop
