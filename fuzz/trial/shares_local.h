#pragma once

#include "engine/uop/uop.h"

namespace assay::fuzz {

// Whether the work-items of a kernel's list of instructions share LOCAL storage, and wait for one
// another.
inline bool shares_local(uop::Ref linear) {
  bool has_local = false;
  bool has_barrier = false;
  for (const uop::Ref u : linear->src) {
    has_barrier = has_barrier || u->op == uop::Op::Barrier;
    has_local =
        has_local || (u->op == uop::Op::Buffer && u->arg.addr_space() == uop::AddrSpace::Local);
  }
  return has_local && has_barrier;
}

}  // namespace assay::fuzz
