#pragma once

#include <cstdint>

namespace assay::smt {

// A hash with one more word in it.
inline uint64_t mixed(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0xff51afd7ed558ccd;
  return h ^ (h >> 32);
}

}  // namespace assay::smt
