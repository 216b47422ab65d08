#include "engine/codegen/gpu_dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/check.h"
#include "engine/codegen/axes.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/launch_axes.h"
#include "engine/codegen/place.h"
#include "engine/codegen/rebuild.h"
#include "engine/uop/dim.h"
#include "engine/uop/gate.h"
#include "engine/uop/node_map.h"
#include "engine/uop/scope.h"

namespace assay::codegen {
namespace {

using uop::AddrSpace;
using uop::DType;
using uop::Graph;
using uop::Int128;
using uop::Limits;
using uop::Op;
using uop::Ref;

constexpr AxisNames kGroups = {"work-groups", {"gidx0", "gidx1", "gidx2"}};
constexpr AxisNames kItems = {"work-items", {"lidx0", "lidx1", "lidx2"}};

bool is_placed(Ref u) { return is_group_axis(u) || is_item_axis(u); }

// The ranges of one kind, by number, and what they become.
struct Placed {
  std::vector<Ref> ranges;
  LaunchAxes axes;

  // What range r became; null where it is none of these.
  Ref term_of(Ref r) const {
    const auto at = std::ranges::find(ranges, r) - ranges.begin();
    return at < std::ssize(ranges) ? axes.terms[static_cast<size_t>(at)] : nullptr;
  }
};

Result<Placed> placed(Graph& g, std::span<const Ref> kernel, bool (*is_one)(Ref),
                      const AxisNames& names, const std::array<int64_t, 3>& limits) {
  Placed p;
  std::ranges::copy_if(kernel, std::back_inserter(p.ranges), is_one);
  std::ranges::sort(p.ranges, {}, [](Ref r) { return r->arg.number(); });
  std::vector<Ref> sizes;
  sizes.reserve(p.ranges.size());
  for (const Ref r : p.ranges) sizes.push_back(uop::as_dim(g, r->src[0]));
  ASSAY_TRY(axes, launch_axes(g, names, sizes, limits));
  p.axes = std::move(axes);
  return p;
}

AddrSpace space_of_place(Graph& g, Ref place) {
  const Ref storage = uop::buffer(g, place);
  ASSAY_CHECK(storage != nullptr, "{} is no storage", to_text(place->op));
  return storage->op == Op::Param ? AddrSpace::Global : storage->arg.addr_space();
}

class GpuDims {
 public:
  GpuDims(Graph& g, const Placed& groups, const Placed& items, std::span<const Ref> kernel)
      : g_(g), groups_(groups), items_(items) {
    bool is_gated = false;
    for (const Ref u : kernel) {
      if (u->op != Op::Store || space_of_place(g_, u->src[0]) == AddrSpace::Reg) continue;
      const Ref gate = gate_of(u->src[0]);
      is_gated = is_gated || gate != nullptr;
      gates_.set(u, gate);
    }
    if (is_gated) find_reads(kernel);
  }

  Ref of(Ref u, std::span<const Ref> src) {
    switch (u->op) {
      case Op::Range: {
        const Ref term = is_placed(u) ? term_of(u) : nullptr;
        return term != nullptr ? term : on_sources(g_, u, src);
      }
      case Op::End:
      case Op::After: return without_placed(u, src);
      case Op::Index: return read(u, src);
      case Op::Store: return stored(u, src);
      default: return on_sources(g_, u, src);
    }
  }

 private:
  Ref term_of(Ref r) const { return (is_group_axis(r) ? groups_ : items_).term_of(r); }

  // What orders or closes iterations that now run side by side says no more.
  Ref without_placed(Ref u, std::span<const Ref> src) {
    std::vector<Ref> sources = {src[0]};
    for (size_t i = 1; i < src.size(); ++i) {
      if (!is_placed(u->src[i])) sources.push_back(src[i]);
    }
    return sources.size() == 1 && src.size() > 1 ? src[0] : on_sources(g_, u, sources);
  }

  void add(Ref& gate, Ref condition) {
    if (condition == nullptr) return;
    gate = gate == nullptr ? condition : g_.make(Op::And, DType::Bool, {gate, condition});
  }

  // That each axis which no index of `place` names is at 0, and that the position is one at all.
  void add_gates(Ref& gate, Ref place, const Placed& placed) {
    for (const Ref r : placed.ranges) {
      const bool is_named = std::ranges::any_of(place->src.subspan(1), [&](Ref i) {
        const std::span<const Ref> in = uop::ranges(g_, i);
        return std::ranges::find(in, r) != in.end();
      });
      const Ref term = placed.term_of(r);
      if (is_named || is_const(term)) continue;
      const Ref zero = uop::dim(g_, 0);
      add(gate, g_.alu(Op::Eq, {term, zero}));
    }
    add(gate, placed.axes.inside);
  }

  // Null where every work-item stores to an element of its own.
  Ref gate_of(Ref place) {
    ASSAY_CHECK(place->op == Op::Index && place->src.size() > 1, "a store to {} has no index",
                to_text(place->op));
    Ref gate = nullptr;
    if (space_of_place(g_, place) == AddrSpace::Global) add_gates(gate, place, groups_);
    add_gates(gate, place, items_);
    return gate;
  }

  // Only who stores reads what was there in GLOBAL storage that the kernel writes: others would
  // read it while it is written, for a result that they do not store.
  void find_reads(std::span<const Ref> kernel) {
    std::vector<Ref> stores;
    std::vector<Ref> written;
    for (const Ref u : kernel) {
      if (!gates_.has(u) || space_of_place(g_, u->src[0]) != AddrSpace::Global) continue;
      stores.push_back(u);
      written.push_back(uop::buffer(g_, u->src[0]));
    }
    for (const Ref store : stores) {
      for (const Ref u : read_by(store)) {
        const bool is_access = u->op == Op::Index && u->src.size() > 1 && is_state(u->src[0]);
        if (!is_access || std::ranges::find(written, uop::buffer(g_, u)) == written.end()) continue;
        const Ref* other = reads_.find(u);
        reads_.set(u, other == nullptr ? gates_.at(store) : either(*other, gates_.at(store)));
      }
    }
  }

  // What the value of a store and its index are computed from.
  std::vector<Ref> read_by(Ref store) {
    std::vector<Ref> all;
    const auto add_below = [&](std::span<const Ref> roots) {
      for (const Ref root : roots) {
        const std::vector<Ref> below = uop::toposort(g_, root);
        all.insert(all.end(), below.begin(), below.end());
      }
    };
    add_below(store->src.subspan(1));
    add_below(store->src[0]->src.subspan(1));
    return all;
  }

  // Where one of two gates holds; null holds always.
  Ref either(Ref a, Ref b) {
    if (a == nullptr || b == nullptr || a == b) return a == nullptr ? a : b;
    return g_.make(Op::Or, DType::Bool, {a, b});
  }

  Ref read(Ref u, std::span<const Ref> src) {
    const Ref* gate = reads_.find(u);
    return gate == nullptr ? on_sources(g_, u, src) : accessed(u, src, *gate);
  }
  // Its place may be read as well, under other gates.
  Ref stored(Ref u, std::span<const Ref> src) {
    const Ref* gate = gates_.find(u);
    if (gate == nullptr) return on_sources(g_, u, src);
    std::vector<Ref> at;
    for (const Ref s : u->src[0]->src) at.push_back(rebuilt(g_, s));
    std::vector<Ref> sources(src.begin(), src.end());
    sources[0] = accessed(u->src[0], at, *gate);
    return on_sources(g_, u, sources);
  }
  Ref accessed(Ref place, std::span<const Ref> src, Ref gate) {
    std::vector<Ref> at(src.begin(), src.end());
    at[1] = uop::also_gated(g_, at[1], gate);
    return on_sources(g_, place, at);
  }

  Graph& g_;
  const Placed& groups_;
  const Placed& items_;
  uop::NodeMap<Ref> gates_;  // of STOREs to memory
  uop::NodeMap<Ref> reads_;  // gates of accesses that read what the kernel writes
};

// How many groups there is room for along each axis when groups have these items.
std::array<int64_t, 3> group_limits(const Limits& limits, const std::array<Int128, 3>& items) {
  std::array<int64_t, 3> most;
  for (size_t a = 0; a < 3; ++a) {
    most[a] = limits.global_sizes[a] / std::max<int64_t>(1, static_cast<int64_t>(items[a]));
  }
  return most;
}

Result<Ref> gpu_dims(uop::Run& run, Ref root) {
  Graph& g = run.graph();
  const Limits& limits = run.target().limits;
  const std::vector<Ref> kernel = toposort(g, root);
  if (std::ranges::none_of(kernel, is_placed)) return root;
  const auto& most = limits.item_sizes;
  ASSAY_TRY(items, placed(g, kernel, is_item_axis, kItems, {most[0], most[1], most[2]}));
  const std::array<Int128, 3>& n = items.axes.sizes;
  if (n[0] * n[1] * n[2] > limits.group_size) {
    return Error{fmt::format("groups of {} by {} by {} work-items are larger than the target's {}",
                             int64_t(n[0]), int64_t(n[1]), int64_t(n[2]), limits.group_size)};
  }
  ASSAY_TRY(groups, placed(g, kernel, is_group_axis, kGroups, group_limits(limits, n)));
  GpuDims dims(g, groups, items, kernel);
  return rebuild(g, kernel, [&](Ref u, std::span<const Ref> src) { return dims.of(u, src); });
}

}  // namespace

const uop::Pass& add_gpu_dims() {
  static const uop::Pass pass = {"add_gpu_dims", unstaged_form(), placed_form(), {}, {}, gpu_dims};
  return pass;
}

}  // namespace assay::codegen
