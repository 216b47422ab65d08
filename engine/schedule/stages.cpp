#include "engine/schedule/stages.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/schedule/access.h"
#include "engine/schedule/inline.h"
#include "engine/uop/dim.h"
#include "engine/uop/node_map.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::Arg;
using uop::AxisType;
using uop::DType;
using uop::is_const;
using uop::is_dim;
using uop::NodeMap;
using uop::Op;

// A value that is recomputed reads at most so many buffers, and has at most so many nodes.
constexpr size_t kMostReads = 3;
constexpr size_t kMostNodes = 4096;

// The buffers that a value reads, as far as the cost rule asks.
struct Reads {
  uint8_t count = 0;    // kMostReads + 1 stands for all numbers above
  bool folded = false;  // a reduce reads one
  std::array<Ref, kMostReads> buffers = {};

  void add(Ref b) {
    const auto known = buffers.begin() + std::min<size_t>(count, kMostReads);
    if (count > kMostReads || std::find(buffers.begin(), known, b) != known) return;
    if (count < kMostReads) buffers[count] = b;
    ++count;
  }
  void add(const Reads& o) {
    folded = folded || o.folded;
    if (o.count > kMostReads) count = kMostReads + 1;
    for (size_t i = 0; i < o.count && i < kMostReads; ++i) add(o.buffers[i]);
  }
};

class StageRemover {
 public:
  explicit StageRemover(Run& run) : g_(run.graph()), indexer_(run), mover_(g_, indexer_) {}

  Result<Ref> rewrite(Ref root) {
    const std::vector<Ref> order = uop::toposort(g_, root);
    for (const Ref u : order) done_.set(u, result(u));
    if (indexer_.trouble()) return *indexer_.trouble();
    return done_.at(root);
  }

 private:
  Ref result(Ref u) {
    const Ref now = rebuilt(u);
    switch (now->op) {
      case Op::Stage: return stage(now);
      case Op::Index: return now->src[0]->op == Op::Stage ? index(now) : now;
      case Op::Where: return picked(now);
      case Op::End: return end(now);
      case Op::After: return after(now);
      default: return now;
    }
  }

  Ref rebuilt(Ref u) {
    sources_.clear();
    bool changed = false;
    for (const Ref s : u->src) {
      sources_.push_back(done_.at(s));
      changed = changed || sources_.back() != s;
    }
    return changed ? g_.with_sources(u, sources_) : u;
  }

  static bool is_kept(Ref value) { return value->op == Op::Contiguous || value->op == Op::Copy; }

  // The stage, or the one that it would be a copy of.
  Ref stage(Ref u) {
    if (const Ref inner = copied(u)) return inner;
    if (is_kept(u->src[0])) return u;
    const auto live = uop::ranges(g_, u->src[0]);
    const auto is_dead = [&](Ref r) {
      return r->op == Op::Range && std::ranges::find(live, r) == live.end();
    };
    if (std::ranges::none_of(u->src.subspan(1), is_dead)) return u;
    sources_.assign(1, u->src[0]);
    for (const Ref r : u->src.subspan(1)) sources_.push_back(is_dead(r) ? uop::dim(g_, 0) : r);
    return g_.with_sources(u, sources_);
  }

  // The stage that u holds element by element, if it is of the same sizes.
  static Ref copied(Ref u) {
    const Ref value = u->src[0]->op == Op::Contiguous ? u->src[0]->src[0] : u->src[0];
    if (value->op != Op::Index || value->src[0]->op != Op::Stage) return nullptr;
    const Ref inner = value->src[0];
    if (inner->src.size() != u->src.size()) return nullptr;
    for (size_t i = 1; i < u->src.size(); ++i) {
      if (value->src[i] != u->src[i] || inner->src[i]->op != u->src[i]->op) return nullptr;
      const bool range = u->src[i]->op == Op::Range;
      if (range && inner->src[i]->src[0] != u->src[i]->src[0]) return nullptr;
    }
    return inner;
  }

  Ref index(Ref u) {
    const Ref now = with_dead_axes(u);
    const Ref s = now->src[0];
    if (!is_cheap(s)) return now;
    mover_.clear();
    for (size_t i = 1; i < s->src.size(); ++i) {
      const Gated at = split_gate(now->src[i]);
      if (at.gate != nullptr) mover_.set_gate(at.gate);
      if (s->src[i]->op == Op::Range) mover_.map(s->src[i], at.index);
    }
    const Ref value = mover_.moved(s->src[0], kMostNodes);
    if (value == nullptr) cheap_.set(s, 0);
    return value == nullptr ? now : value;
  }

  // Where a stage has room for one element, that is the one to read.
  Ref with_dead_axes(Ref u) {
    sources_.assign(u->src.begin(), u->src.end());
    for (size_t i = 1; i < sources_.size(); ++i) {
      if (!is_dim(u->src[0]->src[i], 0)) continue;
      sources_[i] = gated(g_, uop::dim(g_, 0), split_gate(sources_[i]).gate);
    }
    return g_.with_sources(u, sources_);
  }

  bool is_cheap(Ref s) {
    if (const uint8_t* known = cheap_.find(s)) return *known != 0;
    bool cheap = !is_kept(s->src[0]);
    if (cheap) {
      const Reads& r = reads(s->src[0]);
      cheap = r.count <= kMostReads && !r.folded;
    }
    cheap_.set(s, cheap ? 1 : 0);
    return cheap;
  }

  const Reads& reads(Ref value) {
    if (const Reads* known = reads_.find(value)) return *known;
    std::vector<Ref> stack = {value};
    while (!stack.empty()) {
      const Ref u = stack.back();
      const size_t before = stack.size();
      if (u->op != Op::Index && !reads_.has(u)) {
        for (const Ref s : u->src) {
          if (!reads_.has(s)) stack.push_back(s);
        }
      }
      if (stack.size() != before) continue;
      stack.pop_back();
      if (!reads_.has(u)) reads_.set(u, reads_of(u));
    }
    return reads_.at(value);
  }

  Reads reads_of(Ref u) {
    Reads all;
    if (u->op == Op::Index) {
      const Ref base = u->src[0];
      all.add(base->op == Op::Stage ? base : uop::buffer(g_, base));
      return all;
    }
    for (const Ref s : u->src) all.add(reads_.at(s));
    if (u->op == Op::Reduce && all.count > 0) all.folded = true;
    return all;
  }

  // A store of what is there already does nothing, and so does one that no gate admits.
  Ref end(Ref u) {
    const Ref store = u->src[0];
    return store->op == Op::Store && is_idle(store) ? g_.make(Op::Noop, DType::Void, {}) : u;
  }

  static bool is_idle(Ref store) {
    const Ref place = store->src[0];
    if (place == store->src[1]) return true;
    if (place->op != Op::Index || place->src.size() == 1) return false;
    return place->src[1]->op == Op::Invalid || is_false(split_gate(place->src[1]).gate);
  }

  Ref after(Ref u) {
    sources_.clear();
    for (const Ref s : u->src) {
      if (s->op != Op::Noop) sources_.push_back(s);
    }
    if (sources_.size() == 1) return sources_[0];
    return sources_.size() == u->src.size() ? u : g_.with_sources(u, sources_);
  }

  Graph& g_;
  Indexer indexer_;
  Mover mover_;
  NodeMap<Ref> done_;
  NodeMap<uint8_t> cheap_;
  NodeMap<Reads> reads_;
  std::vector<Ref> sources_;
};

// Breaks up values that read too many buffers.
class BufferLimiter {
 public:
  BufferLimiter(Run& run, int64_t most)
      : g_(run.graph()), indexer_(run), mover_(g_, indexer_), most_(static_cast<size_t>(most)) {}

  Result<Ref> rewrite(Ref root) {
    const std::vector<Ref> order = uop::toposort(g_, root);
    for (const Ref u : order) {
      if (u->op == Op::Range) next_range_ = std::max(next_range_, u->arg.number() + 1);
    }
    for (const Ref u : order) {
      Ref now = rebuilt(u);
      if (uop::is_scalar(now->op)) now = limited(now);
      done_.set(u, now);
      set_reads(now);
    }
    if (indexer_.trouble()) return *indexer_.trouble();
    return done_.at(root);
  }

 private:
  Ref rebuilt(Ref u) {
    sources_.clear();
    for (const Ref s : u->src) sources_.push_back(done_.at(s));
    return g_.with_sources(u, sources_);
  }

  // The distinct buffers that a node reads, itself not looked into where it is one.
  void set_reads(Ref u) {
    if (reads_.has(u)) return;
    std::vector<Ref> all;
    if (u->op == Op::Index) {
      all.push_back(u->src[0]);
    } else if (u->op != Op::Stage && u->op != Op::After) {
      all = joined(u->src);
    }
    reads_.set(u, uop::intern_shape(g_, all));
  }

  // Sets stand in the order of ids, which shows nowhere.
  std::vector<Ref> joined(std::span<const Ref> nodes) {
    std::vector<Ref> all;
    for (const Ref s : nodes) {
      const Shape part = reads_.at(s);
      std::vector<Ref> both;
      std::ranges::set_union(all, part, std::back_inserter(both), {}, &uop::UOp::id, &uop::UOp::id);
      all = std::move(both);
    }
    return all;
  }

  Ref limited(Ref u) {
    if (joined(u->src).size() < most_) return u;
    std::vector<Ref> sources(u->src.begin(), u->src.end());
    while (joined(sources).size() >= most_) {
      const auto largest = std::ranges::max_element(
          sources, {}, [&](Ref s) { return s->op == Op::Index ? 0 : reads_.at(s).size(); });
      if (reads_.at(*largest).size() < 2) break;
      const Ref operand = *largest;
      const Ref stored = staged(operand);
      std::ranges::replace(sources, operand, stored);
    }
    return g_.with_sources(u, sources);
  }

  // The value materialized over all ranges that it stands in.
  Ref staged(Ref value) {
    const auto ranges = uop::ranges(g_, value);
    std::vector<Ref> own = {nullptr};
    std::vector<Ref> at = {nullptr};
    mover_.clear();
    mover_.set_settle(true);
    for (const Ref r : ranges) {
      const Arg axis = Arg::axis(static_cast<int32_t>(next_range_++), AxisType::Weak);
      own.push_back(g_.make(Op::Range, r->dtype, r->src, axis));
      at.push_back(r);
      mover_.map(r, own.back());
    }
    own[0] = mover_.moved(value);
    at[0] = g_.make(Op::Stage, value->dtype, own, Arg::place(0, uop::AddrSpace::Global));
    const Ref read = g_.make(Op::Index, value->dtype, at);
    reads_.set(at[0], {});
    set_reads(read);
    return read;
  }

  Graph& g_;
  Indexer indexer_;
  Mover mover_;
  size_t most_;
  int64_t next_range_ = 0;
  NodeMap<Ref> done_;
  NodeMap<Shape> reads_;
  std::vector<Ref> sources_;
};

Result<Ref> remove_stages(Run& run, Ref root) { return StageRemover(run).rewrite(root); }

}  // namespace

const uop::Pass& remove_stages_pass() {
  static const uop::Pass pass = {.name = "remove_stages",
                                 .accepts = uop::graph_spec(),
                                 .yields = uop::graph_spec(),
                                 .rules = {},
                                 .options = {},
                                 .function = remove_stages};
  return pass;
}

Result<Ref> limit_buffers(Run& run, Ref root, int64_t most) {
  return BufferLimiter(run, most).rewrite(root);
}

}  // namespace assay::schedule
