#include "engine/schedule/order.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/schedule/at.h"
#include "engine/schedule/extension.h"
#include "engine/schedule/history.h"
#include "engine/schedule/in_place.h"
#include "engine/uop/node_map.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::NodeMap;
using uop::Op;

// A kernel graph read as a history.
class Reader {
 public:
  explicit Reader(Graph& g) : g_(g) {}

  Result<bool> read(Ref sink) {
    for (const Ref u : uop::toposort(g_, sink, uop::Extent::OutsideBodies)) {
      if (const auto done = read_node(u); !done.ok()) return done;
    }
    return true;
  }

  const History& history() const { return history_; }
  Ref call(int32_t kernel) const { return calls_[at(kernel)]; }
  // The call over buffers.
  Ref over_buffers(int32_t kernel) {
    const Ref u = call(kernel);
    std::vector<Ref> sources = {u->src[0]};
    for (const Ref s : u->src.subspan(1)) sources.push_back(is_state(s) ? storage_.at(s) : s);
    return g_.with_sources(u, sources);
  }
  Pinned pinned(const Dependency& war) const {
    const Ref u = call(war.from);
    Pinned pin = {u, buffers_[at(history_.buffer(war.version))], nullptr};
    for (const Ref s : u->src.subspan(1)) {
      if (!is_state(s)) continue;
      for (const int32_t v : states(s)) {
        if (history_.content(v) == war.version && pin.state == nullptr) pin.state = s;
      }
    }
    return pin;
  }

 private:
  using Versions = std::vector<int32_t>;

  bool is_state(Ref u) const { return lists_.has(u); }
  const Versions& states(Ref u) const { return versions_[at(lists_.at(u))]; }
  void set(Ref u, Versions versions, Ref storage) {
    lists_.set(u, static_cast<int32_t>(versions_.size()));
    versions_.push_back(std::move(versions));
    storage_.set(u, storage);
  }

  Result<bool> read_node(Ref u) {
    switch (u->op) {
      case Op::Buffer:
      case Op::Param: return read_buffer(u);
      case Op::MStack:
      case Op::MSelect: return read_shards(u);
      case Op::Call: return read_call(u);
      case Op::After: return read_after(u);
      default: break;
    }
    const bool is_view = uop::is_movement(u->op) || u->op == Op::Bitcast;
    if (!is_view || !is_state(u->src[0])) return true;
    std::vector<Ref> sources(u->src.begin(), u->src.end());
    sources[0] = storage_.at(u->src[0]);
    set(u, states(u->src[0]), g_.with_sources(u, sources));
    return true;
  }

  Result<bool> read_buffer(Ref u) {
    const auto buffer = static_cast<int32_t>(buffers_.size());
    buffers_.push_back(u);
    set(u, {history_.start(buffer)}, u);
    return true;
  }

  // A stack is all its states, and MSELECT one of them, where they are as many as were stacked.
  Result<bool> read_shards(Ref u) {
    Versions all;
    std::vector<Ref> sources;
    for (const Ref s : u->src) {
      if (!is_state(s)) return true;  // a value, which no state goes through
      all.insert(all.end(), states(s).begin(), states(s).end());
      sources.push_back(storage_.at(s));
    }
    Ref storage = g_.with_sources(u, sources);
    if (u->op == Op::MSelect && sources[0]->op == Op::MStack) {
      const auto k = static_cast<uint64_t>(u->arg.number());
      const size_t shards = sources[0]->src.size();
      if (k >= shards) return Error{fmt::format("mselect takes {} of {} states", k, shards)};
      if (all.size() == shards) all = {all[k]};
      storage = sources[0]->src[k];
    }
    set(u, std::move(all), storage);
    return true;
  }

  Result<bool> read_call(Ref u) {
    Versions over;
    Versions reads;
    bool is_first = true;
    for (const Ref s : u->src.subspan(1)) {
      if (s->op == Op::Bind) continue;
      if (!is_state(s)) {
        return Error{fmt::format("kernel {} ({}) takes {}, which is no state of a buffer",
                                 calls_.size(), kernel_name(u), to_text(s->op))};
      }
      if (is_first) over = states(s);
      if (!is_first || in_place_(u->src[0])) {
        reads.insert(reads.end(), states(s).begin(), states(s).end());
      }
      is_first = false;
    }
    kernels_.set(u, history_.kernel(over, reads));
    calls_.push_back(u);
    return true;
  }

  // What the sources of an AFTER after its first are to a version of one buffer.
  struct Members {
    Versions writers;
    Versions joined;
    Versions after;
  };

  Result<bool> read_after(Ref u) {
    const Ref before = u->src[0];
    if (!is_state(before)) {
      if (std::none_of(u->src.begin(), u->src.end(), [](Ref s) { return s->op == Op::Call; })) {
        return true;
      }
      return Error{
          fmt::format("after supersedes {}, which is no state of a buffer", to_text(before->op))};
    }
    Versions next;
    for (const int32_t prior : states(before)) {
      ASSAY_TRY(members, members_of(u, states(before), history_.buffer(prior)));
      next.push_back(history_.version(prior, members.writers, members.joined, members.after));
    }
    set(u, std::move(next), storage_.at(before));
    return true;
  }

  Result<Members> members_of(Ref after, const Versions& all, int32_t buffer) const {
    Members m;
    for (Ref s : after->src.subspan(1)) {
      if (s->op == Op::End) s = s->src[0];
      if (s->op == Op::Call) {
        add_call(s, all, buffer, m);
        continue;
      }
      if (!is_state(s)) {
        return Error{fmt::format("after takes {}, expected a call or a state", to_text(s->op))};
      }
      for (const int32_t v : states(s)) {
        if (history_.buffer(v) == buffer) {
          m.joined.push_back(v);
        } else {
          history_.makers(v, m.after);
        }
      }
    }
    return m;
  }

  // A call that writes none of the buffers of the AFTER only orders.
  void add_call(Ref call, const Versions& all, int32_t buffer, Members& m) const {
    const int32_t kernel = kernels_.at(call);
    bool writes_any = false;
    bool writes_this = false;
    for (const int32_t v : history_.over(kernel)) {
      writes_this |= history_.buffer(v) == buffer;
      writes_any |= std::any_of(all.begin(), all.end(), [&](int32_t a) {
        return history_.buffer(a) == history_.buffer(v);
      });
    }
    if (writes_this) m.writers.push_back(kernel);
    if (!writes_any) m.after.push_back(kernel);
  }

  Graph& g_;
  InPlace in_place_;
  History history_;
  std::vector<Ref> buffers_;
  std::vector<Ref> calls_;
  std::vector<Versions> versions_;
  NodeMap<int32_t> lists_;    // the place in versions_ of a state's versions, one a shard
  NodeMap<Ref> storage_;      // a state without its AFTERs
  NodeMap<int32_t> kernels_;  // of a CALL
};

std::string describe(const Reader& reader, const Circle& circle) {
  const auto name = [&](int32_t k) {
    return fmt::format("kernel {} ({})", k, kernel_name(reader.call(k)));
  };
  std::string text = "cycle: ";
  for (const Dependency& d : circle) {
    text += fmt::format("{} -{}-> ", name(d.from), to_text(d.kind));
  }
  return text + name(circle[0].from);
}

}  // namespace

Result<Ref> create_schedule(Graph& g, Ref sink, std::vector<Cycle>* cycles) {
  Reader reader(g);
  if (const auto read = reader.read(sink); !read.ok()) return read.error();
  const int32_t kernels = reader.history().kernels();
  const std::vector<Dependency> dependencies = reader.history().dependencies();
  const Extension extension = linear_extension(kernels, dependencies);
  if (cycles != nullptr) cycles->clear();
  for (const Circle& circle : extension.circles) {
    if (cycles == nullptr) break;
    Cycle cycle;
    for (const Dependency& d : circle) {
      if (d.kind == EdgeKind::War) cycle.push_back(reader.pinned(d));
    }
    cycles->push_back(std::move(cycle));
  }
  if (!extension.circles.empty()) return Error{describe(reader, extension.circles[0])};
  std::vector<int32_t> places(at(kernels));
  std::vector<Ref> calls;
  for (const int32_t k : extension.order) {
    places[at(k)] = static_cast<int32_t>(calls.size());
    calls.push_back(reader.over_buffers(k));
  }
  std::vector<Edge> edges;
  edges.reserve(dependencies.size());
  for (const Dependency& d : dependencies) {
    edges.push_back({places[at(d.from)], places[at(d.to)], d.kind});
  }
  return make_linear(g, calls, std::move(edges));
}

}  // namespace assay::schedule
