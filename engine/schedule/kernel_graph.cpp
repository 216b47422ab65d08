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
 public:
  explicit Splitter(Run& run) : g_(run.graph()), indexer_(run), maker_(g_, indexer_) {}

  Result<Ref> rewrite(Ref root) {
    order_ = uop::toposort(g_, root);
    place_stages();
    for (const Ref u : order_) {
      if (const Ref state = split(u)) states_.set(u, state);
    }
    if (indexer_.trouble()) return *indexer_.trouble();
    return states_.at(root);
  }

 private:
  Ref split(Ref u) {
    switch (u->op) {
      case Op::Buffer:
      case Op::Param: return u;
      case Op::Stage: return stored(u->src[0], stage_ranges(u), devices_.at(u));
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

  // Where each STAGE is: where its value is, else where it is first read.
  void place_stages() {
    int64_t last = -1;
    bool nowhere = false;
    for (const Ref u : order_) {
      if (u->op == Op::Buffer) last = std::max(last, u->arg.number());
      if (u->op != Op::Stage) continue;
      devices_.set(u, uop::device(g_, u->src[0]));
      nowhere = nowhere || devices_.at(u) == nullptr;
    }
    next_buffer_ = static_cast<int32_t>(last + 1);
    if (!nowhere) return;
    for (size_t i = order_.size(); i-- > 0;) {
      const Ref u = order_[i];
      if (u->op != Op::Stage && u->op != Op::End) continue;
      const Ref value = u->op == Op::Stage ? u->src[0] : u->src[0]->src[1];
      const Ref device = u->op == Op::Stage ? devices_.at(u) : uop::device(g_, u->src[0]->src[0]);
      for (const Ref s : maker_.storage_read(value)) {
        if (s->op == Op::Stage && devices_.at(s) == nullptr) devices_.set(s, device);
      }
    }
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
    return g_.make(Op::After, buffer->dtype, {buffer, call(kernel)});
  }

  Ref index(Ref storage, std::span<const Ref> at) {
    std::vector<Ref> sources = {storage};
    sources.insert(sources.end(), at.begin(), at.end());
    return g_.make(Op::Index, storage->dtype, sources);
  }

  Ref call(const Kernel& kernel) {
    std::vector<Ref> sources = {kernel.body};
    for (const Ref s : kernel.states) sources.push_back(states_.at(s));
    return g_.make(Op::Call, DType::Void, sources, g_.info("", {}));
  }

  // The CALL of a kernel that does what END(STORE(INDEX(state, i…), value), range…) says.
  Ref split_store(Ref u) {
    const Ref target = u->src[0]->src[0];
    const Ref value = u->src[0]->src[1];
    const auto loops = u->src.subspan(1);
    const Kernel kernel = maker_.make(target, value, loops);
    if (!kernel.clashes) return call(kernel);
    const Ref first = stored(value, loops, uop::device(g_, target));
    states_.set(first, first);
    const Ref element = index(first, loops);
    return call(maker_.make(target, element, loops));
  }

  Graph& g_;
  Indexer indexer_;
  KernelMaker maker_;
  std::vector<Ref> order_;
  NodeMap<Ref> states_;
  NodeMap<Ref> devices_;
  int32_t next_buffer_ = 0;
};

Result<Ref> split(Run& run, Ref root) { return Splitter(run).rewrite(root); }

// The largest number of buffers that a kernel of the graph takes.
int64_t most_buffers(Graph& g, Ref root) {
  size_t most = 0;
  for (const Ref u : uop::toposort(g, root, uop::Bodies::Outside)) {
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
