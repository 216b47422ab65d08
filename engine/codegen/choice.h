#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/codegen/accesses.h"
#include "engine/codegen/tiling.h"

namespace assay::codegen {

// A kernel, the list of opts so far, and what a step of the heuristic may ask of them.
class Choice {
 public:
  Choice(uop::Graph& g, const uop::Target& target, uop::Ref kernel, Tiling tiling);

  // Takes the opt, if it is legal and the kernel stays of a reasonable length.
  bool add(OptKind kind, int64_t axis, int64_t amount);

  const Tiling& tiling() const { return tiling_; }
  const std::vector<Access>& accesses() const { return accesses_; }
  int store_axes() const { return tiling_.store_axes(); }
  int reduce_axes() const { return tiling_.reduce_axes(); }

  // Iterations that are left of an axis; symbolic ones count as many as there may be.
  int64_t left(int place) const;
  bool may_split(int place) const;
  // Elements that the kernel stores, one after the other, over lanes.
  int64_t results() const;
  const Along& along(const Access& access, int place) const {
    return access.along[static_cast<size_t>(place)];
  }
  // Whether some access steps through storage one by one along the axis.
  bool is_dense(int place) const {
    return std::ranges::any_of(accesses_,
                               [&](const Access& x) { return along(x, place).stride == 1; });
  }
  // Whether some access does not depend on the axis: what it reads serves all iterations of it.
  bool is_reused(int place) const {
    return std::ranges::any_of(accesses_,
                               [&](const Access& x) { return !along(x, place).depends; });
  }
  int64_t lanes(int place, uop::AxisType type) const {
    return tiling_.axes()[static_cast<size_t>(place)].taken(type);
  }
  int64_t upcasted() const;

  const uop::Tuning& tuning;

 private:
  Tiling tiling_;
  std::vector<Access> accesses_;
  std::vector<uop::Int128> most_;  // iterations of each axis, at most
  int64_t operations_;
};

// What is tried, in order. A step that returns true is the last one.
using Step = bool (*)(Choice&);

// The axis along which most of what is read serves several results, and where that is true of all
// that the tile has so far: the fewest accesses that depend on it, then the shortest strides.
std::optional<int> best_of_tile(const Choice& c);

// The steps for devices that run each work-item by itself, and for those that run the work-items of
// a group as lanes of a vector.
std::span<const Step> item_steps();
std::span<const Step> lane_steps();

}  // namespace assay::codegen
