#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::workgroup {

// SplitMix64: the same numbers everywhere.
constexpr uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ x >> 27) * 0x94D0'49BB'1331'11EB;
  return x ^ x >> 31;
}

class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed) {}
  uint64_t next() { return mixed(state_ += 0x9E37'79B9'7F4A'7C15); }
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }

 private:
  uint64_t state_;
};

}  // namespace assay::workgroup
