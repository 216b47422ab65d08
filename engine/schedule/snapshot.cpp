#include "engine/schedule/snapshot.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/tensor/session.h"
#include "engine/uop/dim.h"
#include "engine/uop/node_map.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::Arg;
using uop::DType;
using uop::NodeMap;
using uop::Op;

// The kernel that copies all `count` elements of type t.
Ref copy_kernel(Graph& g, DType t, Ref count) {
  const Ref range = g.make(Op::Range, DType::Index, {count}, Arg::axis(0, uop::AxisType::Weak));
  std::array<Ref, 2> elements{};
  for (size_t k = 0; k < 2; ++k) {
    const Ref param = g.make(Op::Param, t, {count}, Arg::number(static_cast<int64_t>(k)));
    elements[k] = g.make(Op::Index, t, {param, range});
  }
  const Ref store = g.make(Op::Store, DType::Void, {elements[0], elements[1]});
  const Ref end = g.make(Op::End, DType::Void, {store, range});
  return g.make(Op::Sink, DType::Void, {end}, g.info("snapshot", {}));
}

int32_t next_number(std::span<const Ref> order) {
  int64_t next = 0;
  for (const Ref u : order) {
    if (u->op == Op::Buffer) next = std::max(next, u->arg.number() + 1);
  }
  return static_cast<int32_t>(next);
}

class Breaker {
 public:
  Breaker(Graph& g, std::span<const Cycle> cycles) : g_(g) {
    for (const Cycle& cycle : cycles) {
      if (!cycle.empty()) pinned_.push_back(cycle.front());
    }
  }

  Ref rebuild(Ref sink) {
    const std::vector<Ref> order = uop::toposort(g_, sink, uop::Extent::OutsideBodies);
    next_ = next_number(order);
    for (const Ref u : order) {
      src_.clear();
      for (size_t i = 0; i < u->src.size(); ++i) {
        const Ref s = u->src[i];
        const bool is_body = u->op == Op::Call && i == 0;
        src_.push_back(is_body ? s : is_pinned(u, s) ? copy_of(s) : done_.at(s));
      }
      done_.set(u, std::ranges::equal(src_, u->src) ? u : g_.with_sources(u, src_));
    }
    return done_.at(sink);
  }

 private:
  bool is_pinned(Ref call, Ref state) const {
    return std::ranges::any_of(pinned_,
                               [&](const Pinned& p) { return p.call == call && p.state == state; });
  }

  Ref copy_of(Ref state) {
    if (const Ref* made = copies_.find(state)) return *made;
    const Ref storage = tensor::storage_of(state);
    const Ref copy = g_.make(Op::Buffer, storage->dtype, storage->src,
                             Arg::place(next_++, uop::AddrSpace::Global));
    const auto largest = uop::max_shape(g_, uop::shape(g_, storage));
    const Ref count = uop::size_of(g_, *largest);
    const Ref call =
        g_.make(Op::Call, DType::Void,
                {copy_kernel(g_, storage->dtype, count), copy, done_.at(state)}, g_.info("", {}));
    const Ref after = g_.make(Op::After, storage->dtype, {copy, call});
    copies_.set(state, after);
    return after;
  }

  Graph& g_;
  std::vector<Pinned> pinned_;
  NodeMap<Ref> done_;
  NodeMap<Ref> copies_;
  int32_t next_ = 0;
  std::vector<Ref> src_;
};

}  // namespace

Ref break_cycles(Graph& g, Ref sink, std::span<const Cycle> cycles) {
  return Breaker(g, cycles).rebuild(sink);
}

}  // namespace assay::schedule
