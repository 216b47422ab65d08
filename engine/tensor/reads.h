#pragma once

#include <algorithm>
#include <vector>

#include "engine/uop/node_map.h"
#include "engine/uop/scope.h"
#include "engine/uop/uop.h"
#include "engine/uop/walk.h"

namespace assay::tensor {

// What u reads as the source `before`, now that `now` stands there. What is computed of no storage
// is on any device; where it lies on one, it is copied to those that read it elsewhere.
inline uop::Ref read_by(uop::Graph& g, uop::Ref u, uop::Ref before, uop::Ref now) {
  constexpr uop::OpSet kMeet = {uop::Op::Stack, uop::Op::Store};
  if (now == before || !(uop::is_scalar(u->op) || kMeet.has(u->op))) return now;
  if (uop::device(g, before) != nullptr) return now;
  const uop::Ref here = uop::device(g, u);
  const uop::Ref there = uop::device(g, now);
  if (here == nullptr || there == nullptr || here == there) return now;
  return g.make(uop::Op::Copy, now->dtype, {now, here});
}

// The graph below root with what is read replaced: replace(u, rebuilt) gives what stands in the
// place of u, or null. Where a STORE names the storage that it writes to, views stay views of that
// storage, though a value that is the same node may be replaced where it is read.
template <typename Replace>
uop::Ref rebuild_reads(uop::Graph& g, uop::Ref root, Replace replace) {
  using uop::Op;
  uop::NodeMap<uop::Ref> values;
  uop::NodeMap<uop::Ref> addresses;
  std::vector<uop::Ref> src;
  for (const uop::Ref u : uop::toposort(g, root)) {
    const auto rebuilt = [&](bool names) {
      src.assign(u->src.size(), nullptr);
      for (size_t i = 0; i < src.size(); ++i) {
        const bool is_named = names && i == 0;
        const uop::Ref now = (is_named ? addresses : values).at(u->src[i]);
        src[i] = is_named ? now : read_by(g, u, u->src[i], now);
      }
      return std::ranges::equal(src, u->src) ? u : g.with_sources(u, src);
    };
    const uop::Ref value = rebuilt(u->op == Op::Store || u->op == Op::After);
    const uop::Ref other = replace(u, value);
    values.set(u, other == nullptr ? value : other);
    const bool is_view = uop::is_movement(u->op) || u->op == Op::Bitcast;
    addresses.set(u, is_view ? rebuilt(true) : values.at(u));
  }
  return values.at(root);
}

}  // namespace assay::tensor
