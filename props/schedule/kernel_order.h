#pragma once

#include <cstdint>
#include <vector>

#include "props/schedule/call_order.h"
#include "props/schedule/kernel_version.h"

namespace assay::props {

// Pairs of kernels of which an AFTER says only that the one waits for the other: who takes or makes
// a version comes after those that it is after and that write none of its buffer.
std::vector<CallPair> only_after_pairs(const KernelVersions& graph);

// An order of a graph's kernels in which each finds the versions that it takes, from all pairs of
// accesses to a buffer; or that there is none.
class KernelOrder {
 public:
  explicit KernelOrder(const KernelVersions& graph);

  bool too_many() const { return too_many_; }  // pairs to look at: nothing is known
  bool is_circle() const { return order_.size() < kernels_; }
  const std::vector<int32_t>& order() const { return order_; }

 private:
  size_t kernels_;
  bool too_many_ = false;
  std::vector<int32_t> order_;
};

}  // namespace assay::props
