#include "engine/codegen/tiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/uop/node_map.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::Op;
using uop::Ref;
using Fault = std::optional<std::string>;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// A product of counts, which are not negative; the largest number where it would be past that.
int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

bool is_known(Ref range) { return uop::is_const(range->src[0]); }

Axis axis_of(Ref range, AxisType type) {
  const int64_t count = is_known(range) ? static_cast<int64_t>(range->src[0]->arg.bits) : 0;
  const auto number = static_cast<int32_t>(range->arg.number());
  return {.range = range,
          .type = type,
          .number = number,
          .is_symbolic = !is_known(range),
          .left = count,
          .pieces = {},
          .paddings = {}};
}

// Each range that one of these nodes closes, once, by number.
std::vector<Ref> closed_by(std::span<const Ref> nodes) {
  std::vector<Ref> ranges;
  for (const Ref u : nodes) {
    for (const Ref r : u->src.subspan(1)) {
      if (std::ranges::find(ranges, r) == ranges.end()) ranges.push_back(r);
    }
  }
  std::ranges::sort(ranges, {}, [](Ref r) { return r->arg.number(); });
  return ranges;
}

// The nodes of a kernel that are computed from storage which it writes.
uop::NodeMap<char> reading_outputs(std::span<const Ref> kernel) {
  std::vector<Ref> outputs;
  for (const Ref u : kernel) {
    if (u->op == Op::Store && !u->src[0]->src.empty()) outputs.push_back(u->src[0]->src[0]);
  }
  uop::NodeMap<char> reading;
  for (const Ref u : kernel) {
    const bool is_read =
        u->op == Op::Index && std::ranges::find(outputs, u->src[0]) != outputs.end();
    if (is_read || std::ranges::any_of(u->src, [&](Ref s) { return reading.has(s); })) {
      reading.set(u, 1);
    }
  }
  return reading;
}

// What is left of an axis that an END closes runs at once, if nothing says that it must not.
AxisType launched(AxisType type) { return type == AxisType::Weak ? AxisType::Global : type; }

// Whether work-items of these counts fit along the launch's axes, the fastest ones filled first.
bool fits_launch(std::vector<std::pair<int32_t, int64_t>> counts, const uop::Limits& limits) {
  std::ranges::sort(counts, std::ranges::greater{});
  size_t along = 0;
  int64_t items = 1;
  for (const auto& [number, count] : counts) {
    if (times(items, count) > limits.item_sizes[along]) {
      items = 1;
      ++along;
      if (along == 3 || count > limits.item_sizes[along]) return false;
    }
    items *= count;
  }
  return true;
}

}  // namespace

int64_t Axis::taken(AxisType t) const {
  int64_t product = 1;
  for (const Piece& piece : pieces) {
    if (piece.type == t) product = times(product, piece.count);
  }
  return product;
}

int Tiling::place_of(Ref range) const {
  const auto found = std::ranges::find(axes_, range, &Axis::range);
  return found == axes_.end() ? -1 : static_cast<int>(found - axes_.begin());
}

std::vector<int> Tiling::places_of(std::span<const Ref> ranges) const {
  std::vector<int> places;
  for (const Ref r : ranges) {
    if (const int place = place_of(r); place >= 0) places.push_back(place);
  }
  return places;
}

Fault Tiling::find_axes(uop::Graph& g, Ref kernel) {
  std::vector<Ref> ends;
  std::vector<Ref> folds;
  const std::vector<Ref> order = uop::toposort(g, kernel);
  for (const Ref u : order) {
    if (u->op == Op::End) ends.push_back(u);
    if (u->op == Op::Reduce) folds.push_back(u);
    if (u->op == Op::Range) {
      next_number_ = std::max(next_number_, static_cast<int32_t>(u->arg.number()) + 1);
    }
    if (u->op != Op::End && u->op != Op::Reduce) continue;
    for (const Ref r : u->src.subspan(1)) {
      if (r->op == Op::Range && r->dtype == uop::DType::Index) continue;
      return fmt::format("{} over {}, not a range", uop::to_text(u->op), uop::to_text(r->op));
    }
  }
  const std::span<const Ref> open = uop::ranges(g, kernel);
  if (!open.empty()) return fmt::format("range {} is never closed", open[0]->arg.number());
  const std::vector<Ref> stored = closed_by(ends);
  for (const Ref r : stored) axes_.push_back(axis_of(r, launched(r->arg.axis_type())));
  store_axes_ = static_cast<int>(axes_.size());
  for (const Ref r : closed_by(folds)) {
    if (std::ranges::find(stored, r) != stored.end()) {
      return fmt::format("range {} is closed by an end and a reduce", r->arg.number());
    }
    axes_.push_back(axis_of(r, AxisType::Reduce));
  }
  if (!folds.empty()) {
    const uop::NodeMap<char> reading = reading_outputs(order);
    for (const Ref u : folds) {
      folds_.push_back(
          {u, places_of(u->src.subspan(1)), places_of(uop::ranges(g, u)), reading.has(u->src[0])});
    }
  }
  for (const Ref u : ends) {
    ends_.push_back({u, places_of(u->src.subspan(1)), places_of(uop::ranges(g, u)), false});
  }
  return std::nullopt;
}

Result<Tiling> Tiling::of(uop::Graph& g, const uop::Target& target, Ref kernel) {
  Tiling tiling(target);
  if (Fault fault = tiling.find_axes(g, kernel)) return Error{*std::move(fault)};
  return tiling;
}

Result<Tiling> Tiling::of(uop::Graph& g, const uop::Target& target, Ref kernel,
                          std::span<const Opt> opts) {
  ASSAY_TRY(tiling, of(g, target, kernel));
  for (const Opt& opt : opts) {
    if (Fault fault = tiling.add(opt)) {
      return Error{fmt::format("opt {}: {}", to_text(opt), *fault)};
    }
  }
  return tiling;
}

Fault Tiling::add(const Opt& opt) {
  Fault fault;
  if (opt.kind == OptKind::NoLocals) {
    if (items() > 1) return "work-items are already in the list";
    no_locals_ = true;
  } else if (opt.kind == OptKind::PadTo) {
    fault = pad(opt);
  } else if (opt.kind == OptKind::Swap) {
    fault = swap(opt);
  } else {
    fault = take(opt);
  }
  if (!fault) opts_.push_back(opt);
  return fault;
}

Fault Tiling::take(const Opt& opt) {
  const OptInfo& row = info(opt.kind);
  const std::string_view what = row.of_reduces ? "reduce" : "store";
  const int count = row.of_reduces ? reduce_axes() : store_axes();
  if (opt.axis < 0 || opt.axis >= count) {
    return fmt::format("{} axis {} is not there; there are {}", what, opt.axis, count);
  }
  Axis& axis = axes_[static_cast<size_t>(opt.axis + (row.of_reduces ? store_axes_ : 0))];
  if (axis.is_symbolic) return fmt::format("{} axis {} has a symbolic size", what, opt.axis);
  if (axis.type == AxisType::Loop) {
    return fmt::format("{} axis {} runs one iteration after the other", what, opt.axis);
  }
  if (axis.left == 0) return fmt::format("{} axis {} is empty", what, opt.axis);
  const int64_t n = opt.amount == 0 ? axis.left : opt.amount;
  if (n < 0 || axis.left % n != 0) {
    return fmt::format("{} does not divide the {} that are left of {} axis {}", n, axis.left, what,
                       opt.axis);
  }
  const bool is_item = *row.becomes == AxisType::Local || *row.becomes == AxisType::GroupReduce;
  if (is_item && no_locals_) return "the list has NOLOCALS";
  if (n == 1) return std::nullopt;
  if (axis.pieces.size() == kMostPieces) {
    return fmt::format("{} axis {} is in {} pieces already", what, opt.axis, kMostPieces);
  }
  const Axis before = axis;
  const int64_t left = axis.left / n;
  const int64_t factor = row.is_outer ? times(axis.factor, left) : axis.factor;
  axis.pieces.push_back({*row.becomes, n, factor, next_number_});
  if (!row.is_outer) axis.factor = times(axis.factor, n);
  axis.left = left;
  if (Fault fault = over_limits()) {
    axis = before;
    return fault;
  }
  ++next_number_;
  return std::nullopt;
}

Fault Tiling::pad(const Opt& opt) {
  if (opt.axis < 0 || opt.axis >= static_cast<int64_t>(axes_.size())) {
    return fmt::format("axis {} is not there; there are {}", opt.axis, axes_.size());
  }
  Axis& axis = axes_[static_cast<size_t>(opt.axis)];
  if (axis.is_symbolic) return fmt::format("axis {} has a symbolic size", opt.axis);
  if (opt.amount < 1) return fmt::format("{} is no size to pad to", opt.amount);
  if (is_known(axis.range) && axis.range->src[0]->arg.bits == 1) {
    return fmt::format("axis {} has one iteration", opt.axis);
  }
  const int64_t rest = axis.left % opt.amount;
  if (rest == 0) return std::nullopt;
  const int64_t most = times(axis.left, kMostPadding);
  if (times(axis.factor, most) == kMost) return "its places would leave 64 bits";
  if (opt.amount > most || axis.left - rest + opt.amount > most) {
    return fmt::format("the {} that are left of axis {} become more than {} times as many",
                       axis.left, opt.axis, kMostPadding);
  }
  axis.paddings.push_back({axis.pieces.size(), axis.factor, axis.left});
  axis.left += opt.amount - rest;
  return std::nullopt;
}

Fault Tiling::swap(const Opt& opt) {
  for (const int64_t a : {opt.axis, opt.amount}) {
    if (a < 0 || a >= store_axes_) {
      return fmt::format("store axis {} is not there; there are {}", a, store_axes_);
    }
    if (axes_[static_cast<size_t>(a)].type == AxisType::Loop) {
      return fmt::format("store axis {} runs one iteration after the other", a);
    }
  }
  std::swap(axes_[static_cast<size_t>(opt.axis)].number,
            axes_[static_cast<size_t>(opt.amount)].number);
  return std::nullopt;
}

int64_t Tiling::items() const {
  int64_t items = 1;
  for (const Axis& axis : axes_) {
    items = times(items, times(axis.taken(AxisType::Local), axis.taken(AxisType::GroupReduce)));
  }
  return items;
}

int64_t Tiling::product(std::span<const int> places, AxisType type) const {
  int64_t product = 1;
  for (const int p : places) product = times(product, axes_[static_cast<size_t>(p)].taken(type));
  return product;
}

int64_t Tiling::lanes_of(const Nest& nest) const {
  int64_t lanes = 1;
  for (const std::vector<int>* places : {&nest.closes, &nest.around}) {
    lanes = times(lanes, product(*places, AxisType::Upcast));
    lanes = times(lanes, product(*places, AxisType::Unroll));
  }
  return lanes;
}

int64_t Tiling::lanes() const {
  int64_t lanes = 1;
  for (const Nest& nest : folds_) lanes = std::max(lanes, lanes_of(nest));
  for (const Nest& nest : ends_) lanes = std::max(lanes, lanes_of(nest));
  return lanes;
}

// A shared fold keeps what each work-item has folded: all lanes of it, for each work-item that it
// depends on.
int64_t Tiling::local_bytes() const {
  int64_t bytes = 0;
  for (const Nest& fold : folds_) {
    const int64_t shared = product(fold.closes, AxisType::GroupReduce);
    if (shared == 1) continue;
    int64_t size = times(shared, uop::bytes_of(fold.u->dtype));
    for (const AxisType type : {AxisType::Local, AxisType::Upcast, AxisType::Unroll}) {
      size = times(size, product(fold.around, type));
    }
    bytes = size > kMost - bytes ? kMost : bytes + size;
  }
  return bytes;
}

// All work-items of a group pass the barriers of a shared fold together, wherever they stand: in
// loops over ranges that no work-items share out, which they all run through alike. Within another
// shared fold they would not: each work-item runs through other iterations there. One of them
// stores the result, and no barrier orders that after what others read of GLOBAL storage.
Fault Tiling::group_fault() const {
  for (const Nest& fold : folds_) {
    if (product(fold.closes, AxisType::GroupReduce) == 1) continue;
    if (!target_->memory) return "the target has no memory contract for LOCAL storage";
    if (fold.reads_output) return "the fold reads storage that the kernel writes";
    for (const int p : fold.around) {
      const Axis& axis = axes_[static_cast<size_t>(p)];
      if (axis.taken(AxisType::GroupReduce) > 1) {
        return "a shared fold would stand in another shared fold";
      }
      const bool loops = axis.type == AxisType::Reduce || axis.type == AxisType::Loop;
      if (loops && axis.has_rest() && target_->memory->in_loop == uop::Standing::Nowhere) {
        return "the fold stands in a loop, where the target allows no barrier";
      }
    }
  }
  return std::nullopt;
}

Fault Tiling::over_limits() const {
  const uop::Limits& limits = target_->limits;
  if (items() > limits.group_size) {
    return fmt::format("{} work-items when a group has {} at most", items(), limits.group_size);
  }
  std::vector<std::pair<int32_t, int64_t>> counts;
  for (const Axis& axis : axes_) {
    for (const Piece& piece : axis.pieces) {
      const bool is_item = piece.type == AxisType::Local || piece.type == AxisType::GroupReduce;
      if (is_item) counts.emplace_back(piece.number, piece.count);
    }
  }
  if (!fits_launch(std::move(counts), limits)) {
    return fmt::format("{} work-items do not fit the launch's axes", items());
  }
  if (lanes() > kMostLanes) {
    return fmt::format("{} lanes when there are {} at most", lanes(), kMostLanes);
  }
  if (Fault fault = group_fault()) return fault;
  if (local_bytes() > limits.local_bytes) {
    return fmt::format("{} bytes of LOCAL storage when there are {}", local_bytes(),
                       limits.local_bytes);
  }
  return std::nullopt;
}

}  // namespace assay::codegen
