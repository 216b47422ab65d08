#pragma once

#include <cstdint>
#include <optional>

#include "engine/uop/target.h"
#include "oracles/interpreter/scalar.h"

namespace assay::workgroup {

// A device that uses every freedom its target grants, by seed: functions are off by up to their
// limits, sums are contracted or not, subnormals are flushed where they may be. What it does
// depends on the operation and its operands alone, so that equal terms have equal values.
struct Adversary {
  uint64_t seed = 0;
  // An operation that is off by so many times its limit, to see whether anyone notices.
  std::optional<uop::Op> breaks = std::nullopt;
  double factor = 1;
};

// What an adversary may do to an operation.
struct Freedom {
  double ulps = 0;       // how far the result may be off; nothing up to half a unit
  bool exceeds = false;  // it is off by `ulps`, whether or not it may
  bool flushes = false;  // subnormal operands and results are zeros of either sign

  bool is_some() const { return ulps > 0.5 || flushes; }
};
Freedom freedom_of(const Adversary& adversary, const uop::Target& target, uop::Op op, uop::DType t,
                   int32_t node);
// Whether the sum at a node is rounded once with the product it adds.
bool contracts(const Adversary& adversary, const uop::Target& target, int32_t node);

// out = scalar(src), of n elements, as freely as that.
void compute_freely(const interpreter::Scalar& scalar, uop::Op op, Freedom freedom, uint64_t seed,
                    interpreter::Slot* out, const interpreter::Operand* src, int64_t n);

}  // namespace assay::workgroup
