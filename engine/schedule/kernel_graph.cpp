#include "engine/schedule/kernel_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/schedule/access.h"
#include "engine/schedule/kernel.h"
#include "engine/schedule/prepare.h"
#include "engine/schedule/rangeify.h"
#include "engine/schedule/stages.h"
#include "engine/uop/dim.h"
#include "engine/uop/node_map.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::AddrSpace;
using uop::Arg;
using uop::DType;
using uop::NodeMap;
using uop::Op;

class Splitter {
  using Devices = std::vector<Ref>;

 public:
  explicit Splitter(Run& run) : g_(run.graph()), indexer_(run), maker_(g_, indexer_) {}

  Result<Ref> rewrite(Ref root) {
    order_ = uop::toposort(g_, root);
    place_stages();
    for (const Ref u : order_) {
      if (u->op == Op::Stage) {
        store_stage(u);
      } else if (const Ref state = split(u)) {
        states_.set(u, state);
      }
    }
    if (indexer_.trouble()) return *indexer_.trouble();
    return states_.at(root);
  }

 private:
  Ref split(Ref u) {
    switch (u->op) {
      case Op::Buffer:
      case Op::Param: return u;
      case Op::End: return split_store(u);
      case Op::After:
      case Op::Sink: return rebuilt(u);
      default: return nullptr;
    }
  }

  Ref rebuilt(Ref u) {
    std::vector<Ref> sources;
    for (const Ref s : u->src) sources.push_back(states_.at(s));
    return g_.with_sources(u, sources);
  }

  static std::span<const Ref> stage_ranges(Ref stage) { return stage->src.subspan(1); }

  // Where each STAGE is: where its value is, else on each device that reads it. What is computed of
  // no storage, such as random numbers, is the same everywhere, so that no copy of it is made.
  void place_stages() {
    int64_t last = -1;
    bool nowhere = false;
    for (const Ref u : order_) {
      if (u->op == Op::Buffer) last = std::max(last, u->arg.number());
      if (u->op != Op::Stage) continue;
      const Ref device = uop::device(g_, u->src[0]);
      devices_.set(u, device == nullptr ? Devices{} : Devices{device});
      nowhere = nowhere || device == nullptr;
    }
    next_buffer_ = static_cast<int32_t>(last + 1);
    if (!nowhere) return;
    for (size_t i = order_.size(); i-- > 0;) {
      const Ref u = order_[i];
      if (u->op == Op::Stage) {
        const Devices readers = devices_.at(u);
        for (const Ref device : readers) place_read(u->src[0], device);
      } else if (u->op == Op::End) {
        place_read(u->src[0]->src[1], uop::device(g_, u->src[0]->src[0]));
      }
    }
  }

  // A kernel on that device reads the value's STAGEs.
  void place_read(Ref value, Ref device) {
    if (device == nullptr) return;
    for (const Ref s : maker_.storage_read(value)) {
      if (s->op != Op::Stage || uop::device(g_, s->src[0]) != nullptr) continue;
      Devices devices = devices_.at(s);
      if (std::ranges::find(devices, device) != devices.end()) continue;
      devices.push_back(device);
      devices_.set(s, std::move(devices));
    }
  }

  void store_stage(Ref u) {
    Devices devices = devices_.at(u);
    if (devices.empty()) devices.push_back(nullptr);
    std::vector<Ref> states;
    for (const Ref device : devices) {
      states.push_back(stored(u->src[0], stage_ranges(u), device));
    }
    stages_.set(u, std::move(states));
  }

  // What a kernel on that device reads: of a STAGE on several devices its own.
  Ref state_for(Ref s, Ref device) const {
    if (s->op != Op::Stage) return states_.at(s);
    const Devices& devices = devices_.at(s);
    const auto own = std::ranges::find(devices, device);
    return stages_.at(s)[own == devices.end() ? 0 : static_cast<size_t>(own - devices.begin())];
  }

  // A new BUFFER with an axis for each range, once the value is stored in it.
  Ref stored(Ref value, std::span<const Ref> ranges, Ref device) {
    std::vector<Ref> sizes;
    for (const Ref r : ranges) sizes.push_back(r->op == Op::Range ? r->src[0] : uop::dim(g_, 1));
    if (device != nullptr) sizes.push_back(device);
    const Arg place = Arg::place(next_buffer_++, AddrSpace::Global);
    const Ref buffer = g_.make(Op::Buffer, value->dtype, sizes, place);
    states_.set(buffer, buffer);
    const Ref target = index(buffer, ranges);
    std::vector<Ref> loops;
    for (const Ref r : ranges) {
      if (r->op == Op::Range) loops.push_back(r);
    }
    const Kernel kernel = maker_.make(target, value, loops);
    return g_.make(Op::After, buffer->dtype, {buffer, call(kernel, device)});
  }

  Ref index(Ref storage, std::span<const Ref> at) {
    std::vector<Ref> sources = {storage};
    sources.insert(sources.end(), at.begin(), at.end());
    return g_.make(Op::Index, storage->dtype, sources);
  }

  Ref call(const Kernel& kernel, Ref device) {
    std::vector<Ref> sources = {kernel.body};
    for (const Ref s : kernel.states) sources.push_back(state_for(s, device));
    return g_.make(Op::Call, DType::Void, sources, g_.info("", {}));
  }

  // The CALL of a kernel that does what END(STORE(INDEX(state, i…), value), range…) says.
  Ref split_store(Ref u) {
    const Ref target = u->src[0]->src[0];
    const Ref value = u->src[0]->src[1];
    const auto loops = u->src.subspan(1);
    const Kernel kernel = maker_.make(target, value, loops);
    const Ref device = uop::device(g_, target);
    if (!kernel.clashes) return call(kernel, device);
    const Ref first = stored(value, loops, device);
    states_.set(first, first);
    const Ref element = index(first, loops);
    return call(maker_.make(target, element, loops), device);
  }

  Graph& g_;
  Indexer indexer_;
  KernelMaker maker_;
  std::vector<Ref> order_;
  NodeMap<Ref> states_;
  NodeMap<Devices> devices_;          // of STAGEs
  NodeMap<std::vector<Ref>> stages_;  // the states of a STAGE, one a device
  int32_t next_buffer_ = 0;
};

Result<Ref> split(Run& run, Ref root) { return Splitter(run).rewrite(root); }

// The largest number of buffers that a kernel of the graph takes.
int64_t most_buffers(Graph& g, Ref root) {
  size_t most = 0;
  for (const Ref u : uop::toposort(g, root, uop::Extent::OutsideBodies)) {
    if (u->op == Op::Call) most = std::max(most, u->src.size() - 1);
  }
  return static_cast<int64_t>(most);
}

// Shown to the watch as passes are, which know no target.
Result<Ref> limited(Run& run, Ref root, int64_t most) {
  static const uop::Pass pass = {.name = "limit_buffers",
                                 .accepts = uop::graph_spec(),
                                 .yields = uop::graph_spec(),
                                 .rules = {}};
  ASSAY_TRY(made, limit_buffers(run, root, most));
  if (run.watch() == nullptr) return made;
  const Ref after = run.watch()->edit(pass.name, run.graph(), made);
  const auto broken = uop::breach(pass.yields, run.graph(), after);
  run.watch()->seen(uop::PassSeen{pass, run.graph(), root, after, 0, broken});
  return after;
}

}  // namespace

const uop::Pass& split_store_pass() {
  static const uop::Pass pass = {.name = "split_store",
                                 .accepts = uop::graph_spec(),
                                 .yields = uop::graph_spec(),
                                 .rules = {},
                                 .options = {},
                                 .function = split};
  return pass;
}

Result<Ref> get_kernel_graph(Run& run, Ref sink, const uop::Target& target) {
  ASSAY_TRY(prepared, prepare_rangeify(run, sink));
  ASSAY_TRY(ranged, run_rangeify(run, prepared));
  ASSAY_TRY(stages, run_pass(remove_stages_pass(), run, ranged));
  ASSAY_TRY(graph, run_pass(split_store_pass(), run, stages));
  if (most_buffers(run.graph(), graph) <= target.limits.buffers) return graph;
  ASSAY_TRY(smaller, limited(run, stages, target.limits.buffers));
  return run_pass(split_store_pass(), run, smaller);
}

}  // namespace assay::schedule
