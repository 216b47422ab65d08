#include "engine/schedule/cache.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "engine/uop/key.h"
#include "engine/uop/walk.h"
#include "engine/uop/watch.h"

namespace assay::schedule {
namespace {

using uop::Op;

constexpr std::array<std::string_view, 5> kLookups = {"hit", "miss", "off", "limited", "edited"};

Lookup skip(const uop::Run& run, const uop::Watch* watch, const Cache* cache) {
  if (cache == nullptr) return Lookup::Off;
  if (run.switches().limit != uop::kNoLimit) return Lookup::Limited;
  return watch != nullptr && watch->edits() ? Lookup::Edited : Lookup::Miss;
}

// A sink and the same with numbers by first occurrence.
struct Canonical {
  Ref sink = nullptr;
  std::unordered_map<int64_t, int64_t> slots;  // back to those of the sink, where they differ
};

Canonical canonical(Graph& g, Ref sink) {
  const std::vector<Ref> order = uop::toposort(g, sink);
  // The PARAMs of a nested call's body are places in its arguments, which stay.
  if (std::any_of(order.begin(), order.end(), [](Ref u) { return u->op == Op::Call; })) {
    return {sink, {}};
  }
  Canonical c{uop::renumber(g, sink), {}};
  if (c.sink == sink) return c;
  const std::vector<Ref> renamed = uop::toposort(g, c.sink);
  for (size_t i = 0; i < order.size(); i++) {
    if (order[i]->op != Op::Param || order[i] == renamed[i]) continue;
    c.slots.emplace(renamed[i]->arg.number(), order[i]->arg.number());
  }
  return c;
}

// The LINEAR with the slots that the sink has.
Ref with_slots(Graph& g, Ref linear, const Canonical& c) {
  if (c.slots.empty()) return linear;
  uop::Substitution map;
  for (const Ref u : uop::toposort(g, linear, uop::Extent::OutsideBodies)) {
    if (u->op != Op::Param) continue;
    const auto slot = c.slots.find(u->arg.number());
    if (slot != c.slots.end()) {
      map.emplace(u, g.make(u->op, u->dtype, u->src, uop::Arg::number(slot->second)));
    }
  }
  return uop::substitute(g, linear, map, uop::Extent::OutsideBodies);
}

}  // namespace

std::string_view to_text(Lookup lookup) { return kLookups[static_cast<size_t>(lookup)]; }

Cache::Cache() : graph_(std::make_unique<Graph>()) {}

Ref Cache::find(Graph& g, Ref sink, const Key& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  if (uop::copy_to(*graph_, g, sink) != found->second.sink) return nullptr;
  return uop::copy_to(g, *graph_, found->second.linear);
}

void Cache::keep(Graph& g, Ref sink, const Key& key, Ref linear) {
  if (graph_->size() > kMostNodes) {
    entries_.clear();
    graph_ = std::make_unique<Graph>();
  }
  const Ref made_from = uop::copy_to(*graph_, g, sink);
  entries_[key] = {made_from, uop::copy_to(*graph_, g, linear)};
}

Result<Ref> lower_sink_to_linear(uop::Run& run, Cache* cache, const uop::Target& target, Ref sink,
                                 const Lower& lower) {
  Graph& g = run.graph();
  const Canonical c = canonical(g, sink);
  Lookup lookup = skip(run, run.watch(), cache);
  const bool is_used = lookup == Lookup::Miss;
  Cache::Key key;
  Ref linear = nullptr;
  if (is_used) {
    key = {uop::key(g, c.sink), uop::digest(target), run.switches().digest()};
    linear = cache->find(g, c.sink, key);
  }
  if (linear != nullptr) lookup = Lookup::Hit;
  if (cache != nullptr) {
    cache->hits += lookup == Lookup::Hit ? 1 : 0;
    cache->misses += lookup == Lookup::Miss ? 1 : 0;
    cache->skipped += is_used ? 0 : 1;
  }
  if (run.watch() != nullptr) {
    CacheSeen seen{g, sink, lookup, target, run.switches()};
    seen.key = key.structure;
    if (linear != nullptr) seen.linear = with_slots(g, linear, c);
    if (cache != nullptr) {
      seen.hits = cache->hits;
      seen.misses = cache->misses;
      seen.skipped = cache->skipped;
    }
    run.watch()->seen(seen);
  }
  if (linear == nullptr) {
    ASSAY_TRY(made, lower(c.sink));
    linear = made;
    if (is_used) cache->keep(g, c.sink, key, linear);
  }
  return with_slots(g, linear, c);
}

}  // namespace assay::schedule
