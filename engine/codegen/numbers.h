#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/uop/uop.h"

namespace assay::codegen {

// The numbers that are free for new ranges, and for new LOCAL and REG buffers.
struct FreeNumbers {
  int32_t range = 0;
  int32_t buffer = 0;

  FreeNumbers() = default;
  explicit FreeNumbers(std::span<const uop::Ref> kernel) {
    for (const uop::Ref u : kernel) {
      const bool holds = u->op == uop::Op::Buffer || u->op == uop::Op::Stage;
      if (u->op == uop::Op::Range) range = std::max(range, next(u));
      if (holds && u->arg.addr_space() != uop::AddrSpace::Global)
        buffer = std::max(buffer, next(u));
    }
  }

 private:
  static int32_t next(uop::Ref u) { return static_cast<int32_t>(u->arg.number()) + 1; }
};

}  // namespace assay::codegen
