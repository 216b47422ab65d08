#include "engine/schedule/call.h"

#include <algorithm>

#include "engine/tensor/reads.h"
#include "engine/uop/node_map.h"
#include "engine/uop/op.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"

namespace assay::schedule {
namespace {

using tensor::storage_of;
using uop::Arg;
using uop::DType;
using uop::is_movement;
using uop::NodeMap;
using uop::Op;

Ref sink_of(Graph& g, std::span<const Ref> states) {
  return g.make(Op::Sink, DType::Void, states, g.info("", {}));
}

// The versions that a schedule of some states makes.
class Versions {
 public:
  Versions(Graph& g, std::span<const Ref> states) {
    // A chain of versions is in order in the toposort, so the last one stays.
    for (const Ref u : uop::toposort(g, sink_of(g, states))) {
      if (u->op != Op::After) continue;
      const Ref storage = storage_of(u);
      if (!latest_.has(storage)) written_.push_back(storage);
      latest_.set(storage, u);
    }
  }
  bool is_latest(Ref u) const {
    const Ref* last = u->op == Op::After ? latest_.find(storage_of(u)) : nullptr;
    return last != nullptr && *last == u;
  }
  // u is a version that the schedule destroys.
  bool is_superseded(Ref u) const {
    if (u->op != Op::After && u->op != Op::Buffer) return false;
    const Ref storage = storage_of(u);
    const Ref* last = storage == nullptr ? nullptr : latest_.find(storage);
    return last != nullptr && *last != u;
  }
  std::span<const Ref> written() const { return written_; }
  Ref latest(Ref storage) const { return latest_.at(storage); }

 private:
  NodeMap<Ref> latest_;  // by storage
  std::vector<Ref> written_;
};

// The cells to store: those asked for, and those that read what the former destroy.
class Picker {
 public:
  explicit Picker(Session& session) : session_(session), picked_(session.cells().size()) {}

  void add(uint32_t cell) {
    if (picked_[cell]) return;
    picked_[cell] = true;
    order_.push_back(cell);
  }

  std::vector<Ref> states() const {
    std::vector<Ref> states;
    states.reserve(order_.size());
    for (const uint32_t cell : order_) states.push_back(state(cell));
    return states;
  }

  // Adds the cells that are left with a version that is gone. Whether there are any.
  bool add_stranded(const Versions& versions) {
    NodeMap<uint8_t> stranded;
    for (const Ref s : states()) {
      if (!versions.is_superseded(s)) stranded.set(s, 0);
    }
    bool added = false;
    for (uint32_t cell = 0; cell < picked_.size(); ++cell) {
      if (picked_[cell] || state(cell) == nullptr) continue;
      const bool is_stranded = uop::derive(stranded, state(cell), [&](Ref u) -> uint8_t {
        if (versions.is_latest(u)) return 0;
        if (versions.is_superseded(u)) return 1;
        return std::ranges::any_of(u->src, [&](Ref s) { return stranded.at(s) != 0; });
      });
      if (!is_stranded) continue;
      add(cell);
      added = true;
    }
    return added;
  }

  std::span<const uint32_t> order() const { return order_; }
  Ref state(uint32_t cell) const { return session_.cells()[cell].state; }

 private:
  Session& session_;
  std::vector<bool> picked_;
  std::vector<uint32_t> order_;
};

Ref stored(Graph& g, Ref buffer, Ref value) {
  const Ref store = g.make(Op::Store, DType::Void, {buffer, value});
  return g.make(Op::After, buffer->dtype, {buffer, store});
}

// The states with each key of `homes` stored to its BUFFER, and read from there by all others.
std::vector<Ref> with_homes(Graph& g, std::span<const Ref> states, const NodeMap<Ref>& homes) {
  const Ref sink = tensor::rebuild_reads(g, sink_of(g, states), [&](Ref u, Ref rebuilt) -> Ref {
    const Ref* home = homes.find(u);
    return home == nullptr ? nullptr : stored(g, *home, rebuilt);
  });
  return {sink->src.begin(), sink->src.end()};
}

}  // namespace

bool needs_storage(Ref state) {
  if (storage_of(state) != nullptr) return false;
  while (is_movement(state->op)) state = state->src[0];
  return !uop::is_const(state);
}

Realization pick_outputs(Session& session, std::span<const Tensor* const> tensors) {
  Graph& g = session.graph();
  Picker picker(session);
  for (const Tensor* t : tensors) picker.add(t->cell());
  std::vector<Ref> states = picker.states();
  Versions versions(g, states);
  while (picker.add_stranded(versions)) {
    states = picker.states();
    versions = Versions(g, states);
  }

  Realization made = {nullptr, {}, {}};
  NodeMap<Ref> homes;       // of computed values
  std::vector<Ref> roots;   // what with_homes() rebuilds
  std::vector<Ref> copies;  // of versions that are gone
  for (const uint32_t cell : picker.order()) {
    const Ref s = picker.state(cell);
    const bool gone = versions.is_superseded(s);
    if (!gone && !needs_storage(s)) {
      continue;
    }
    if (!gone && homes.has(s)) continue;  // an equal value: both read one buffer until a write
    Ref device = uop::device(g, s);
    if (device == nullptr) device = session.cells()[cell].device;
    const Ref buffer = session.new_buffer(s->dtype, uop::shape(g, s), device);
    made.owners.push_back({cell, buffer});
    if (gone) {
      roots.push_back(stored(g, buffer, s));
    } else {
      homes.set(s, buffer);
      roots.push_back(s);
      made.map[s] = buffer;
    }
  }
  // What a version is read for may turn out to be nothing; it is made all the same.
  for (const Ref storage : versions.written()) {
    roots.push_back(versions.latest(storage));
    made.map[versions.latest(storage)] = storage;
  }
  made.sink = sink_of(g, with_homes(g, roots, homes));
  return made;
}

Ref transform_to_call(Graph& g, Ref sink) {
  NodeMap<Ref> done;
  std::vector<Ref> buffers;
  std::vector<Ref> binds;
  std::vector<Ref> src;
  for (const Ref u : uop::toposort(g, sink)) {
    src.clear();
    for (const Ref s : u->src) src.push_back(done.at(s));
    if (u->op == Op::Buffer) {
      const auto slot = static_cast<int64_t>(buffers.size());
      done.set(u, g.make(Op::Param, u->dtype, src, Arg::number(slot)));
      buffers.push_back(u);
    } else if (u->op == Op::Bind) {
      done.set(u, src[0]);
      binds.push_back(u);
    } else {
      done.set(u, std::ranges::equal(src, u->src) ? u : g.with_sources(u, src));
    }
  }
  std::vector<Ref> call = {done.at(sink)};
  call.insert(call.end(), buffers.begin(), buffers.end());
  call.insert(call.end(), binds.begin(), binds.end());
  return g.make(Op::Call, DType::Void, call, g.info("", {}));
}

}  // namespace assay::schedule
