#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "engine/uop/facts.h"
#include "engine/uop/uop.h"
#include "engine/uop/walk.h"

namespace assay::codegen {

// u on other sources; u itself where they are its own.
inline uop::Ref on_sources(uop::Graph& g, uop::Ref u, std::span<const uop::Ref> sources) {
  return std::ranges::equal(u->src, sources) ? u : g.with_sources(u, sources);
}

// The graph below the last of `order`, in which sources stand before their users, from the sources
// up: `of(u, sources)` is what takes the place of u, given what took the places of its sources. It
// starts no rebuild of its own.
template <typename Of>
uop::Ref rebuild(uop::Graph& g, std::span<const uop::Ref> order, Of of) {
  uop::NodeMap<uop::Ref>& now = g.facts().rebuilt;
  now.clear();
  std::vector<uop::Ref> sources;
  for (const uop::Ref u : order) {
    sources.clear();
    for (const uop::Ref s : u->src) sources.push_back(now.at(s));
    now.set(u, of(u, std::span<const uop::Ref>(sources)));
  }
  return now.at(order.back());
}

}  // namespace assay::codegen
