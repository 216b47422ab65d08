#include "engine/codegen/heuristic.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "engine/codegen/accesses.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/tiling.h"
#include "engine/uop/bounds.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::Ref;

// Scalar functions that a kernel has at most once its lanes are written out.
constexpr int64_t kMostOperations = 1 << 14;
// A fold of no more than this is written out whole.
constexpr int64_t kShortFold = 32;
// A fold of fewer is not worth sharing.
constexpr int64_t kShareable = 64;
// Elements written out of one fold.
constexpr int64_t kMostUnrolled = 256;
// Fewer results than this are better spread over work-items than kept in registers.
constexpr int64_t kManyResults = 1024;

// A kernel, the list so far, and what a step may ask of them.
class Choice {
 public:
  Choice(uop::Graph& g, const uop::Target& target, Ref kernel, Tiling tiling)
      : tuning(target.tuning),
        tiling_(std::move(tiling)),
        accesses_(accesses_of(g, kernel, tiling_)),
        operations_(static_cast<int64_t>(uop::count_ops(g, kernel))) {
    for (const Axis& axis : tiling_.axes()) {
      most_.push_back(axis.is_symbolic ? uop::bounds(g, axis.range).hi + 1 : axis.left);
    }
  }

  // Takes the opt, if it is legal and the kernel stays of a reasonable length.
  bool add(OptKind kind, int64_t axis, int64_t amount) {
    Tiling next = tiling_;
    if (next.add({kind, axis, amount})) return false;
    const bool widens = next.lanes() > tiling_.lanes();
    if (widens && next.lanes() * operations_ > kMostOperations) return false;
    tiling_ = std::move(next);
    return true;
  }

  const Tiling& tiling() const { return tiling_; }
  const std::vector<Access>& accesses() const { return accesses_; }
  int store_axes() const { return tiling_.store_axes(); }
  int reduce_axes() const { return tiling_.reduce_axes(); }

  // Iterations that are left of an axis; symbolic ones count as many as there may be.
  int64_t left(int place) const {
    const Axis& axis = tiling_.axes()[static_cast<size_t>(place)];
    return axis.is_symbolic ? static_cast<int64_t>(most_[static_cast<size_t>(place)]) : axis.left;
  }
  bool may_split(int place) const {
    const Axis& axis = tiling_.axes()[static_cast<size_t>(place)];
    return !axis.is_symbolic && axis.type != AxisType::Loop && axis.left > 1;
  }
  // Elements that the kernel stores, one after the other, over lanes.
  int64_t results() const {
    double n = 1;
    for (int a = 0; a < store_axes(); ++a) n *= static_cast<double>(left(a));
    return n < 1e15 ? static_cast<int64_t>(n) : int64_t{1'000'000'000'000'000};
  }
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
  int64_t lanes(int place, AxisType type) const {
    return tiling_.axes()[static_cast<size_t>(place)].taken(type);
  }
  int64_t upcasted() const {
    int64_t n = 1;
    for (int a = 0; a < store_axes(); ++a) n *= lanes(a, AxisType::Upcast);
    return n;
  }

  const uop::Tuning& tuning;

 private:
  Tiling tiling_;
  std::vector<Access> accesses_;
  std::vector<uop::Int128> most_;  // iterations of each axis, at most
  int64_t operations_;
};

// Long folds with few results are shared by work-items; nothing else is then done.
bool share_folds(Choice& c) {
  if (c.tuning.items_are_lanes || c.results() > c.tuning.busy) return false;
  for (int r = 0; r < c.reduce_axes(); ++r) {
    const int place = c.store_axes() + r;
    if (!c.may_split(place) || c.left(place) < kShareable) continue;
    // Work-items side by side read side by side.
    const OptKind kind = c.is_dense(place) ? OptKind::Group : OptKind::GroupTop;
    for (int64_t n = c.tuning.share; n >= 4; n /= 2) {
      if (c.add(kind, r, n)) return true;
    }
  }
  return false;
}

// The axis along which most of what is read serves several results, and where that is true of all
// that the tile has so far: the fewest accesses that depend on it, then the shortest strides.
std::optional<int> best_of_tile(const Choice& c) {
  std::optional<std::tuple<int64_t, int64_t, int>> best;
  for (int a = 0; a < c.store_axes(); ++a) {
    if (!c.may_split(a) || c.lanes(a, AxisType::Upcast) > 1) continue;
    bool serves = false;
    int64_t accesses = 0;
    int64_t strides = 0;
    for (const Access& x : c.accesses()) {
      const Along& along = c.along(x, a);
      accesses += along.depends ? 1 : 0;
      strides += std::abs(along.stride);
      bool spans = !along.depends;
      for (int b = 0; b < c.store_axes(); ++b) {
        spans = spans && (c.lanes(b, AxisType::Upcast) == 1 || c.along(x, b).depends);
      }
      serves = serves || spans;
    }
    if (serves && (!best || std::tuple(accesses, strides, a) < *best)) {
      best = {accesses, strides, a};
    }
  }
  if (!best) return std::nullopt;
  return std::get<2>(*best);
}

// Results that share what they read are kept in registers together.
bool tile_results(Choice& c) {
  while (c.results() >= kManyResults) {
    const std::optional<int> axis = best_of_tile(c);
    if (!axis) break;
    const auto fits = [&](int64_t n) {
      return c.upcasted() * n <= c.tuning.tile && c.add(OptKind::Upcast, *axis, n);
    };
    if (!fits(4) && !fits(3) && !fits(2)) break;
  }
  return false;
}

// The innermost fold is written out: whole where it is short, else by vectors.
bool unroll_fold(Choice& c) {
  const int last = c.reduce_axes() - 1;
  if (last < 0 || !c.may_split(c.store_axes() + last)) return false;
  const int64_t count = c.left(c.store_axes() + last);
  if (count > kShortFold || c.upcasted() * count > kMostUnrolled ||
      !c.add(OptKind::Unroll, last, 0)) {
    c.add(OptKind::Unroll, last, c.tuning.lanes);
    return false;
  }
  const int next = last - 1;
  if (next < 0 || !c.may_split(c.store_axes() + next)) return false;
  if (count <= 3 && c.left(c.store_axes() + next) <= 3) c.add(OptKind::Unroll, next, 0);
  return false;
}

// Where nothing is side by side yet, what is stored is.
bool widen_store(Choice& c) {
  if (c.tuning.items_are_lanes || c.tiling().lanes() > 1) return false;
  for (int a = c.store_axes(); a-- > 0;) {
    if (!c.may_split(a)) continue;
    for (int64_t n = c.tuning.lanes; n > 1; n /= 2) {
      if (c.add(OptKind::Upcast, a, n)) return false;
    }
    return false;
  }
  return false;
}

// Work-items of a group: along axes that share what they read, then along the innermost.
bool make_groups(Choice& c) {
  std::vector<int> axes;
  for (int a = 0; a < c.store_axes(); ++a) {
    if (c.may_split(a)) axes.push_back(a);
  }
  std::ranges::sort(axes, {}, [&](int a) { return std::tuple(!c.is_reused(a), -a); });
  constexpr int64_t kCounts[] = {32, 16, 8, 4, 3, 2};
  struct Local {
    int axis;
    int64_t count;
  };
  std::vector<Local> locals;
  int64_t items = 1;
  for (const int a : axes) {
    if (locals.size() == 3) break;
    for (const int64_t n : kCounts) {
      const bool is_too_many = items * n > c.tuning.items || (n == 32 && c.store_axes() > 1);
      if (is_too_many || c.left(a) % n != 0) continue;
      locals.push_back({a, n});
      items *= n;
      break;
    }
  }
  std::ranges::sort(locals, {}, &Local::axis);
  for (const Local& local : locals) c.add(OptKind::Local, local.axis, local.count);
  return false;
}

// What is tried, in order. A step that returns true is the last one.
using Step = bool (*)(Choice&);
constexpr Step kSteps[] = {share_folds, tile_results, unroll_fold, widen_store, make_groups};

Result<Ref> choose(uop::Run& run, Ref kernel) {
  if (has_opts(kernel)) return kernel;
  const Result<std::vector<Opt>> opts = chosen_opts(run.graph(), run.target(), kernel);
  if (!opts.ok()) {
    return Error{fmt::format("kernel {}: {}", kernel_name(kernel).name, to_string(opts.error()))};
  }
  return with_opts(run.graph(), kernel, opts.value());
}

}  // namespace

Result<std::vector<Opt>> chosen_opts(uop::Graph& g, const uop::Target& target, Ref kernel) {
  ASSAY_TRY(tiling, Tiling::of(g, target, kernel));
  Choice choice(g, target, kernel, tiling);
  for (const Step step : kSteps) {
    if (step(choice)) break;
  }
  return choice.tiling().opts();
}

const uop::Pass& choose_opts() {
  static const uop::Pass pass = {.name = "choose_opts",
                                 .accepts = scheduled_form(),
                                 .yields = scheduled_form(),
                                 .rules = {},
                                 .function = choose};
  return pass;
}

}  // namespace assay::codegen
