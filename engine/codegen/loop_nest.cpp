#include "engine/codegen/loop_nest.h"

#include <fmt/format.h>

#include "engine/uop/scope.h"

namespace assay::codegen {

using uop::Graph;
using uop::Op;
using uop::Ref;

Result<LoopNest> LoopNest::of(Graph& g, std::span<const Ref> order) {
  LoopNest nest;
  nest.blocks_.emplace_back();
  const std::span<const Ref> open = uop::ranges(g, order.back());
  if (!open.empty()) return Error{fmt::format("range {} has no end", open[0]->arg.number())};
  // An END comes after those that it encloses, so from the back the outer blocks are there first.
  for (size_t i = order.size(); i-- > 0;) {
    const Ref u = order[i];
    if (u->op != Op::End) continue;
    if (u->src.size() != 2 || u->src[1]->op != Op::Range) {
      return Error{fmt::format("an end names {} sources, expected one range", u->src.size() - 1)};
    }
    if (nest.block_of_.has(u->src[1])) {
      return Error{fmt::format("range {} has two ends", u->src[1]->arg.number())};
    }
    const uint32_t parent = nest.innermost(uop::ranges(g, u));
    nest.block_of_.set(u->src[1], static_cast<uint32_t>(nest.blocks_.size()));
    nest.blocks_.push_back({u->src[1], u, parent, nest.blocks_[parent].depth + 1});
  }
  return nest;
}

uint32_t LoopNest::home(Graph& g, Ref u) {
  const std::span<const Ref> set = uop::ranges(g, u);
  if (set.data() == last_set_.data() && set.size() == last_set_.size()) return last_home_;
  last_set_ = set;
  last_home_ = innermost(set);
  return last_home_;
}

uint32_t LoopNest::innermost(std::span<const Ref> ranges) const {
  uint32_t found = 0;
  for (const Ref r : ranges) {
    const uint32_t block = block_of_.at(r);
    if (blocks_[block].depth > blocks_[found].depth) found = block;
  }
  return found;
}

}  // namespace assay::codegen
