#include "engine/codegen/folds.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "engine/codegen/rebuild.h"
#include "engine/uop/facts.h"
#include "engine/uop/scope.h"

namespace assay::codegen {
namespace {

using uop::Arg;
using uop::Graph;
using uop::Op;
using uop::Ref;

bool holds(std::span<const Ref> list, Ref u) { return std::ranges::find(list, u) != list.end(); }

bool is_looped(Ref u) { return u->op == Op::Reduce && u->src.size() > 1; }

void add(std::vector<FoldLoop>& loops, const FoldLoop& fold) {
  const auto found = std::ranges::find_if(loops, [&](const FoldLoop& loop) {
    return loop.level == fold.level && std::ranges::equal(loop.ranges, fold.ranges) &&
           std::ranges::equal(loop.outer, fold.outer);
  });
  if (found == loops.end()) return loops.push_back(fold);
  found->folds.push_back(fold.folds[0]);
}

// A range of the loop is one of an earlier loop as well.
bool is_taken(std::span<const FoldLoop> earlier, const FoldLoop& loop) {
  return std::ranges::any_of(earlier, [&](const FoldLoop& e) {
    return std::ranges::any_of(loop.ranges, [&](Ref r) { return holds(e.ranges, r); });
  });
}

// Gives ranges of their own to folds of a loop.
class OwnRanges {
 public:
  OwnRanges(Graph& g, const FoldLoop& loop, FreeNumbers& free) : g_(g), free_(free) {
    for (const Ref r : loop.ranges) {
      const Arg axis = Arg::axis(free.range++, r->arg.axis_type());
      own_.push_back(g.make(Op::Range, r->dtype, r->src, axis));
    }
  }

  Ref of(Ref fold) {
    std::vector<Ref> sources = {fold->src[0]};
    for (size_t i = 0; i < own_.size(); ++i) {
      sources[0] = renamed(sources[0], fold->src[i + 1], own_[i]);
    }
    sources.insert(sources.end(), own_.begin(), own_.end());
    return g_.with_sources(fold, sources);
  }

 private:
  // u with `to` in the place of range `from`; what closes `from` itself stays as it is.
  Ref renamed(Ref u, Ref from, Ref to) {
    return rebuild(g_, toposort(g_, u), [&](Ref v, std::span<const Ref> src) {
      if (v == from) return to;
      return holds(uop::ranges(g_, v), from) ? with_own_slot(on_sources(g_, v, src)) : v;
    });
  }

  // What is staged in two loops has two slots.
  Ref with_own_slot(Ref u) {
    if (u->op != Op::Stage || u->arg.addr_space() == uop::AddrSpace::Global) return u;
    const auto [at, is_new] = slots_.try_emplace(u, nullptr);
    if (is_new) {
      const Arg place = Arg::place(free_.buffer++, u->arg.addr_space());
      at->second = g_.make(u->op, u->dtype, u->src, place);
    }
    return at->second;
  }

  Graph& g_;
  FreeNumbers& free_;
  std::vector<Ref> own_;
  std::unordered_map<Ref, Ref> slots_;  // only searched
};

Ref with_own_ranges(Graph& g, Ref root, const FoldLoop& loop, FreeNumbers& free) {
  OwnRanges own(g, loop, free);
  std::vector<Ref> folds;
  for (const Ref fold : loop.folds) folds.push_back(own.of(fold));
  return rebuild(g, toposort(g, root), [&](Ref u, std::span<const Ref> src) {
    const auto at = std::ranges::find(loop.folds, u) - loop.folds.begin();
    const bool is_fold = at < std::ssize(folds);
    return is_fold ? folds[static_cast<size_t>(at)] : on_sources(g, u, src);
  });
}

}  // namespace

FoldLoops::FoldLoops(Graph& g, std::span<const Ref> kernel) {
  uop::NodeMap<uint32_t>& levels = g.facts().counts;
  levels.clear();
  std::vector<std::vector<Ref>> by_level(1);
  for (const Ref u : kernel) {
    uint32_t level = 0;
    for (const Ref s : u->src) level = std::max(level, levels.at(s));
    if (is_looped(u)) {
      ++level;
      add(loops, {u->src.subspan(1), uop::ranges(g, u), level, {u}});
    }
    levels.set(u, level);
    if (level == by_level.size()) by_level.emplace_back();
    by_level[level].push_back(u);
  }
  order.reserve(kernel.size());
  for (const std::vector<Ref>& nodes : by_level)
    order.insert(order.end(), nodes.begin(), nodes.end());
}

Ref separate_loops(Graph& g, Ref root, FreeNumbers& free) {
  // The last such loop comes first: what it holds of earlier ones becomes its own as well.
  for (;;) {
    const FoldLoops all(g, toposort(g, root));
    size_t i = all.loops.size();
    while (i > 0 && !is_taken(std::span(all.loops).first(i - 1), all.loops[i - 1])) --i;
    if (i == 0) return root;
    root = with_own_ranges(g, root, all.loops[i - 1], free);
  }
}

}  // namespace assay::codegen
