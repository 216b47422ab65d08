#pragma once

#include <cstdint>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::runtime {

// What a kernel of the schedule (schedule/README.md, Forms) does with what its buffers held before.
struct Overwrite {
  std::vector<int32_t> read;  // slots it reads, in rising order
  bool is_whole = false;      // it stores to each element of PARAM{0}

  bool reads(int32_t slot) const;
};
Overwrite overwrite_of(uop::Graph& g, uop::Ref kernel);

}  // namespace assay::runtime
