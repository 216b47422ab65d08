#include "props/schedule/own_element.h"

#include <algorithm>
#include <optional>

#include "engine/uop/walk.h"

namespace assay::props {
namespace {

using uop::Op;
using uop::Ref;

Ref without_gate(Ref index) {
  const bool is_gated = index->op == Op::Where && index->src[2]->op == Op::Invalid;
  return is_gated ? index->src[1] : index;
}

bool is_element_of(Ref u, int32_t slot) {
  return u->op == Op::Index && u->src.size() == 2 && u->src[0]->op == Op::Param &&
         u->src[0]->arg.number() == slot;
}

// The one index at which the body stores to this PARAM, if there is but one.
Ref only_target(std::span<const Ref> nodes, int32_t slot) {
  Ref target = nullptr;
  for (const Ref u : nodes) {
    if (u->op != Op::Store || viewed_storage(u->src[0])->op != Op::Param) continue;
    if (viewed_storage(u->src[0])->arg.number() != slot) continue;
    const Ref index = is_element_of(u->src[0], slot) ? without_gate(u->src[0]->src[1]) : nullptr;
    if (index == nullptr || (target != nullptr && target != index)) return nullptr;
    target = index;
  }
  return target;
}

}  // namespace

bool may_read_others(const CallAccesses& accesses, const CallAccess& write, const CallAccess& read,
                     Footprints& footprints) {
  const Ref call = accesses.linear()->src[static_cast<size_t>(write.call)];
  if (call->src[0]->op == Op::Linear) return false;  // its calls run one after the other
  if (call->src[0]->op == Op::Sink && write.begin == read.begin) {
    const std::vector<Ref> nodes = uop::toposort(accesses.graph(), call->src[0]);
    const Ref target = only_target(nodes, write.slot);
    const bool is_own = target != nullptr && std::all_of(nodes.begin(), nodes.end(), [&](Ref u) {
                          if (!u->src.empty() && u->src[0]->op == Op::Param &&
                              u->src[0]->arg.number() == read.slot) {
                            return is_element_of(u, read.slot) && without_gate(u->src[1]) == target;
                          }
                          return true;
                        });
    if (is_own) return false;
  }
  const ByteRuns written = footprints.of(call, write, Footprints::Kind::Writes);
  return !are_disjoint(written, footprints.of(call, read, Footprints::Kind::Reads));
}

}  // namespace assay::props
