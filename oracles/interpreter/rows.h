#pragma once

#include <cstdint>

#include "oracles/interpreter/scalar.h"

namespace assay::interpreter {

// The elements of a box, row-major, and where each of up to kSources operands has its element for
// each. Axes are added from the last to the first, and run together where all operands allow it.
class Rows {
 public:
  static constexpr int kSources = 4;
  static constexpr int kMostAxes = 64;

  explicit Rows(int sources) : sources_(sources) {}

  void add(int64_t extent, const int64_t* strides) {
    total_ *= extent;
    if (extent == 1 || joins(extent, strides)) return;
    ASSAY_CHECK(rank_ < kMostAxes, "more than {} axes", kMostAxes);
    extents_[rank_] = extent;
    for (int k = 0; k < sources_; k++) strides_[rank_][k] = strides[k];
    rank_++;
  }
  int64_t size() const { return total_; }

  // f(place of the first result, operands, how many) for each run.
  template <typename F>
  void each(const Slot* const* from, F f) const {
    if (total_ == 0) return;
    const int64_t n = rank_ == 0 ? 1 : extents_[0];
    Operand now[kSources] = {};
    for (int k = 0; k < sources_; k++) now[k] = {from[k], rank_ == 0 ? 0 : strides_[0][k]};
    if (rank_ <= 1) return f(int64_t{0}, now, n);
    int64_t at[kMostAxes];
    for (int axis = 1; axis < rank_; axis++) at[axis] = 0;
    for (int64_t place = 0; place < total_; place += n) {
      f(place, now, n);
      advance(at, now);
    }
  }

 private:
  // Lengthens the first axis added last where the new one only continues it.
  bool joins(int64_t extent, const int64_t* strides) {
    if (rank_ == 0) return false;
    const int last = rank_ - 1;
    for (int k = 0; k < sources_; k++) {
      if (strides[k] != strides_[last][k] * extents_[last]) return false;
    }
    extents_[last] *= extent;
    return true;
  }

  void advance(int64_t* at, Operand* now) const {
    for (int axis = 1; axis < rank_; axis++) {
      const bool more = ++at[axis] < extents_[axis];
      const int64_t steps = more ? 1 : 1 - extents_[axis];
      for (int k = 0; k < sources_; k++) now[k].data += steps * strides_[axis][k];
      if (more) return;
      at[axis] = 0;
    }
  }

  int sources_;
  int rank_ = 0;
  int64_t total_ = 1;
  int64_t extents_[kMostAxes];
  int64_t strides_[kMostAxes][kSources];
};

}  // namespace assay::interpreter
