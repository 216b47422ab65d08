#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/opt.h"
#include "engine/result.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/target.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// Elements that one node may have once lanes are axes: more would be a program of their number.
inline constexpr int64_t kMostLanes = 512;
// PADTO makes an axis at most this many times as long.
inline constexpr int64_t kMostPadding = 4;
// Pieces that one axis is in at most, so that its iterations stay a short sum.
inline constexpr size_t kMostPieces = 16;

// Iterations that an opt took out of an axis: a range of its own, `factor` of which are one
// iteration of the kernel's.
struct Piece {
  uop::AxisType type;
  int64_t count;
  int64_t factor;
  int32_t number;
};

// What was left of an axis when the first `pieces` had been taken out, in steps of `factor`, is
// below `bound`.
struct Padding {
  size_t pieces;
  int64_t factor;
  int64_t bound;
};

// A loop of the kernel, and what opts made of it. An iteration of the kernel's range is
// Σ factor · piece + factor · rest; the rest stays at the axis' place.
struct Axis {
  uop::Ref range;
  uop::AxisType type;  // of the rest
  int32_t number;      // of the rest: its place in the launch
  bool is_symbolic;    // opts leave it whole
  int64_t left;        // the count of the rest, where that is a number
  int64_t factor = 1;  // of the rest
  std::vector<Piece> pieces;
  std::vector<Padding> paddings;

  // The product of the counts of pieces of this type.
  int64_t taken(uop::AxisType t) const;
  // A range of its own stands for the rest: it is not there where pieces are all of the axis.
  bool has_rest() const { return is_symbolic || left != 1 || pieces.empty(); }
};

// A REDUCE or an END: the axes that it closes, and those that it stands in. Places in axes().
struct Nest {
  uop::Ref u;
  std::vector<int> closes;
  std::vector<int> around;
  bool reads_output = false;  // what a REDUCE folds is read from storage that the kernel writes
};

// The loops of a kernel of the schedule and what a list of opts makes of them, opt by opt.
class Tiling {
 public:
  // An error says what about the kernel's loops is not as the form has it.
  static Result<Tiling> of(uop::Graph& g, const uop::Target& target, uop::Ref kernel);
  // The same after a list of opts. An error names the opt and what it breaks.
  static Result<Tiling> of(uop::Graph& g, const uop::Target& target, uop::Ref kernel,
                           std::span<const Opt> opts);

  // Takes the opt in, or changes nothing and says what it breaks.
  std::optional<std::string> add(const Opt& opt);

  const std::vector<Axis>& axes() const { return axes_; }
  const std::vector<Nest>& folds() const { return folds_; }
  const std::vector<Nest>& ends() const { return ends_; }
  // Axes are counted from 0: those that ENDs close first, then those that REDUCEs name.
  int store_axes() const { return store_axes_; }
  int reduce_axes() const { return static_cast<int>(axes_.size()) - store_axes_; }
  const Axis& store_axis(int64_t a) const { return axes_[static_cast<size_t>(a)]; }
  const Axis& reduce_axis(int64_t r) const { return axes_[static_cast<size_t>(store_axes_ + r)]; }
  const std::vector<Opt>& opts() const { return opts_; }
  bool is_changed() const { return !opts_.empty(); }

  // Work-items of a group, elements of the largest node, bytes of LOCAL storage.
  int64_t items() const;
  int64_t lanes() const;
  int64_t local_bytes() const;

 private:
  explicit Tiling(const uop::Target& target) : target_(&target) {}

  std::optional<std::string> find_axes(uop::Graph& g, uop::Ref kernel);
  int place_of(uop::Ref range) const;
  std::vector<int> places_of(std::span<const uop::Ref> ranges) const;

  std::optional<std::string> take(const Opt& opt);
  std::optional<std::string> pad(const Opt& opt);
  std::optional<std::string> swap(const Opt& opt);
  std::optional<std::string> over_limits() const;
  std::optional<std::string> group_fault() const;
  int64_t product(std::span<const int> places, uop::AxisType type) const;
  int64_t lanes_of(const Nest& nest) const;

  const uop::Target* target_;
  std::vector<Axis> axes_;
  std::vector<Nest> folds_;
  std::vector<Nest> ends_;
  std::vector<Opt> opts_;
  int store_axes_ = 0;
  int32_t next_number_ = 0;
  bool no_locals_ = false;
};

}  // namespace assay::codegen
