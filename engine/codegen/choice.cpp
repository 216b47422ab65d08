#include "engine/codegen/choice.h"

#include <optional>
#include <tuple>

#include "engine/uop/bounds.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::AxisType;

// Scalar functions that a kernel has at most once its lanes are written out.
constexpr int64_t kMostOperations = 1 << 14;

}  // namespace

Choice::Choice(uop::Graph& g, const uop::Target& target, uop::Ref kernel, Tiling tiling)
    : tuning(target.tuning),
      tiling_(std::move(tiling)),
      accesses_(accesses_of(g, kernel, tiling_)),
      operations_(static_cast<int64_t>(uop::count_ops(g, kernel))) {
  for (const Axis& axis : tiling_.axes()) {
    most_.push_back(axis.is_symbolic ? uop::bounds(g, axis.range).hi + 1 : axis.left);
  }
}

bool Choice::add(OptKind kind, int64_t axis, int64_t amount) {
  Tiling next = tiling_;
  if (next.add({kind, axis, amount})) return false;
  const bool widens = next.lanes() > tiling_.lanes();
  if (widens && next.lanes() * operations_ > kMostOperations) return false;
  tiling_ = std::move(next);
  return true;
}

int64_t Choice::left(int place) const {
  const Axis& axis = tiling_.axes()[static_cast<size_t>(place)];
  return axis.is_symbolic ? static_cast<int64_t>(most_[static_cast<size_t>(place)]) : axis.left;
}

bool Choice::may_split(int place) const {
  const Axis& axis = tiling_.axes()[static_cast<size_t>(place)];
  return !axis.is_symbolic && axis.type != AxisType::Loop && axis.left > 1;
}

int64_t Choice::results() const {
  double n = 1;
  for (int a = 0; a < store_axes(); ++a) n *= static_cast<double>(left(a));
  return n < 1e15 ? static_cast<int64_t>(n) : int64_t{1'000'000'000'000'000};
}

int64_t Choice::upcasted() const {
  int64_t n = 1;
  for (int a = 0; a < store_axes(); ++a) n *= lanes(a, AxisType::Upcast);
  return n;
}

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

}  // namespace assay::codegen
