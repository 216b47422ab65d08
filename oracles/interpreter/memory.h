#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::interpreter {

// The bytes of storage, by the number of its BUFFER node. What nobody has written is poison: NaN
// for floats, 0xA5 in every byte for the rest.
class Memory {
 public:
  bool has(int64_t number) const { return bytes_.contains(number); }
  // The bytes of a BUFFER node's storage, made and poisoned where there are none yet. Sizes of
  // symbolic shapes are the largest they can be.
  std::span<std::byte> of(uop::Graph& g, uop::Ref buffer);
  std::span<const std::byte> at(int64_t number) const { return bytes_.at(number); }
  void drop(int64_t number) { bytes_.erase(number); }

 private:
  std::unordered_map<int64_t, std::vector<std::byte>> bytes_;
};

}  // namespace assay::interpreter
