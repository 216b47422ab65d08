#include "engine/codegen/heuristic.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "engine/codegen/choice.h"
#include "engine/codegen/forms.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::Ref;

// A fold of no more than this is written out whole.
constexpr int64_t kShortFold = 32;
// A fold of fewer is not worth sharing.
constexpr int64_t kShareable = 64;
// Elements written out of one fold.
constexpr int64_t kMostUnrolled = 256;
// Fewer results than this are better spread over work-items than kept in registers.
constexpr int64_t kManyResults = 1024;

// Long folds with few results are shared by work-items; nothing else is then done.
bool share_folds(Choice& c) {
  if (c.results() > c.tuning.busy) return false;
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
  if (c.tiling().lanes() > 1) return false;
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

Result<Ref> choose(uop::Run& run, Ref kernel) {
  if (has_opts(kernel)) return kernel;
  const Result<std::vector<Opt>> opts = chosen_opts(run.graph(), run.target(), kernel);
  if (!opts.ok()) {
    return Error{fmt::format("kernel {}: {}", kernel_name(kernel).name, to_string(opts.error()))};
  }
  return with_opts(run.graph(), kernel, opts.value());
}

}  // namespace

std::span<const Step> item_steps() {
  static constexpr Step kSteps[] = {share_folds, tile_results, unroll_fold, widen_store,
                                    make_groups};
  return kSteps;
}

Result<std::vector<Opt>> chosen_opts(uop::Graph& g, const uop::Target& target, Ref kernel) {
  ASSAY_TRY(tiling, Tiling::of(g, target, kernel));
  Choice choice(g, target, kernel, tiling);
  for (const Step step : target.tuning.items_are_lanes ? lane_steps() : item_steps()) {
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
