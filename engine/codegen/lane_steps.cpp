#include <algorithm>
#include <optional>

#include "engine/codegen/choice.h"

// What suits a device whose cores run the work-items of a group as lanes of their vectors, a CPU:
// its compiler makes vectors of elements that are written out side by side and of the innermost
// work-items alike, but of a fold that work-items share it keeps each partial result in memory.
namespace assay::codegen {
namespace {

using uop::AxisType;

// The largest part of what is left of the axis that is at most `most` and leaves nothing over.
int64_t largest_part(const Choice& c, int place, int64_t most) {
  int64_t n = std::min(c.left(place), most);
  while (n > 1 && c.left(place) % n != 0) --n;
  return n;
}

bool is_gated_along(const Choice& c, int place) {
  return std::ranges::any_of(c.accesses(),
                             [&](const Access& x) { return c.along(x, place).is_gated; });
}

// Whether elements that a fold takes lie side by side along the axis.
bool is_row(const Choice& c, int place) {
  return std::ranges::any_of(c.accesses(), [&](const Access& x) {
    bool is_folded = false;
    for (int r = 0; r < c.reduce_axes(); ++r) {
      is_folded = is_folded || c.along(x, c.store_axes() + r).depends;
    }
    return is_folded && c.along(x, place).stride == 1;
  });
}

// An axis along which elements lie side by side, but some are not there, is taken whole, and so are
// the folds that shift it: then it is known of each lane whether there is anything.
bool take_padded_row(Choice& c) {
  if (c.reduce_axes() == 0) return false;
  for (int a = c.store_axes(); a-- > 0;) {
    if (!c.may_split(a) || !is_row(c, a) || !is_gated_along(c, a)) continue;
    if (c.left(a) > 2 * c.tuning.lanes || !c.add(OptKind::Upcast, a, 0)) return false;
    for (int r = 0; r < c.reduce_axes(); ++r) {
      const int place = c.store_axes() + r;
      const bool is_short = c.may_split(place) && c.left(place) <= c.tuning.lanes / 2;
      if (is_short && is_row(c, place) && is_gated_along(c, place)) c.add(OptKind::Unroll, r, 0);
    }
    return false;
  }
  return false;
}

// Results of folds that share what they read are kept in registers together: vectors along an axis
// where what is read lies side by side, or all of it where that is two, so that what does not
// depend on it is computed once; else as many along each axis. Rows that folds shift want registers
// as well.
bool tile_folds(Choice& c) {
  if (c.reduce_axes() == 0) return false;
  const int64_t tile = c.tiling().lanes() > c.upcasted() ? c.tuning.tile / 2 : c.tuning.tile;
  while (const std::optional<int> axis = best_of_tile(c)) {
    const int64_t wide = c.left(*axis) <= 2 * c.tuning.lanes ? c.left(*axis) : c.tuning.lanes;
    const int64_t most = is_row(c, *axis) ? wide : c.tuning.lanes / 2;
    const int64_t n = largest_part(c, *axis, std::min(most, tile / c.upcasted()));
    if (n < 2 || !c.add(OptKind::Upcast, *axis, n)) break;
  }
  return false;
}

// Folds that share nothing are still made several at a time, since each addition of one waits for
// the one before.
bool pair_folds(Choice& c) {
  if (c.reduce_axes() == 0 || c.upcasted() > 1) return false;
  std::optional<int> best;
  for (int a = 0; a < c.store_axes(); ++a) {
    if (c.may_split(a) && (!best || is_row(c, a) >= is_row(c, *best))) best = a;
  }
  if (!best) return false;
  for (int64_t n = largest_part(c, *best, c.tuning.lanes); n > 1;
       n = largest_part(c, *best, n - 1)) {
    if (c.add(OptKind::Upcast, *best, n)) break;
  }
  return false;
}

// Where elements lie side by side along the fold and along nothing else, they are read together.
bool unroll_rows(Choice& c) {
  const int last = c.reduce_axes() - 1;
  const int place = c.store_axes() + last;
  if (last < 0 || !c.may_split(place) || !is_row(c, place)) return false;
  for (int a = 0; a < c.store_axes(); ++a) {
    if (c.lanes(a, AxisType::Upcast) > 1 && is_row(c, a)) return false;
  }
  const int64_t most = c.upcasted() > c.tuning.lanes ? c.tuning.lanes / 4 : c.tuning.lanes / 2;
  const int64_t n = largest_part(c, place, most);
  if (n > 1) c.add(OptKind::Unroll, last, n);
  return false;
}

// The axis along which what is stored lies side by side.
std::optional<int> stored_row(const Choice& c) {
  for (const Access& x : c.accesses()) {
    for (int a = 0; a < c.store_axes(); ++a) {
      if (x.is_stored && c.along(x, a).stride == 1 && c.may_split(a)) return a;
    }
  }
  return std::nullopt;
}

// What is read side by side along one axis and stored along another goes by tiles, so that whatever
// line of a cache is fetched is used whole.
bool tile_transposed(Choice& c) {
  const std::optional<int> row = stored_row(c);
  if (c.reduce_axes() > 0 || !row) return false;
  for (const Access& x : c.accesses()) {
    for (int a = 0; a < c.store_axes(); ++a) {
      const bool is_across = !x.is_stored && a != *row && c.along(x, a).stride == 1 &&
                             c.along(x, *row).depends && c.may_split(a);
      if (!is_across) continue;
      c.add(OptKind::Upcast, a, largest_part(c, a, c.tuning.lanes));
      c.add(OptKind::Upcast, *row, largest_part(c, *row, c.tuning.lanes / 2));
      c.add(OptKind::Local, *row, largest_part(c, *row, c.tuning.lanes));
      return true;
    }
  }
  return false;
}

// What folds nothing is done element by element, along the axis where elements lie side by side.
bool spread_items(Choice& c) {
  if (c.reduce_axes() > 0) return false;
  for (int a = c.store_axes(); a-- > 0;) {
    if (!c.may_split(a)) continue;
    const int64_t n = largest_part(c, a, c.tuning.items);
    if (n > 1 && c.add(OptKind::Local, a, n)) return false;
  }
  return false;
}

}  // namespace

std::span<const Step> lane_steps() {
  static constexpr Step kSteps[] = {take_padded_row, tile_folds,      pair_folds,
                                    unroll_rows,     tile_transposed, spread_items};
  return kSteps;
}

}  // namespace assay::codegen
