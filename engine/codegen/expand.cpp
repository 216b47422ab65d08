#include "engine/codegen/expand.h"

#include <algorithm>
#include <vector>

#include "engine/check.h"
#include "engine/codegen/axes.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/rebuild.h"
#include "engine/uop/dim.h"
#include "engine/uop/shape.h"

namespace assay::codegen {
namespace {

using uop::Arg;
using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Run;
using uop::Shape;

// The ranges of type UPCAST and UNROLL, by number: the j-th is axis j of the common shape.
using RangeMap = std::vector<Ref>;

RangeMap build_range_map(std::span<const Ref> order) {
  RangeMap lanes;
  for (const Ref u : order) {
    if (is_lane_axis(u)) lanes.push_back(u);
  }
  std::ranges::sort(lanes, {}, [](Ref u) { return u->arg.number(); });
  return lanes;
}

// Where the axis of a lane range stands, counted from the right.
size_t from_right(const RangeMap& lanes, Ref range) {
  return static_cast<size_t>(lanes.end() - std::ranges::find(lanes, range));
}

// The values of a lane range along its axis: no axes before it, and axes of size 1 after it.
Ref lanes_of(Graph& g, const RangeMap& lanes, Ref range) {
  ASSAY_CHECK(is_const(range->src[0]), "range {} has lanes, and so has a constant size",
              range->arg.number());
  const auto count = static_cast<int64_t>(as_int(range->src[0]->value()));
  std::vector<Ref> values;
  values.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values.push_back(g.constant(range->dtype, i));
  const Ref all = g.make(Op::Stack, range->dtype, values);
  const size_t at = from_right(lanes, range);
  if (at == 1) return all;
  std::vector<Ref> sizes(at, uop::dim(g, 1));
  sizes[0] = uop::dim(g, count);
  return uop::reshape(g, all, sizes);
}

// x repeated along each axis of a range in `folded` that it does not depend on.
Ref with_axes(Graph& g, const RangeMap& lanes, Ref x, std::span<const Ref> folded) {
  const Shape from = shape(g, x);
  std::vector<Ref> sizes(from.rbegin(), from.rend());
  for (const Ref range : folded) {
    const size_t at = from_right(lanes, range);
    if (sizes.size() < at) sizes.resize(at, uop::dim(g, 1));
    sizes[at - 1] = uop::as_dim(g, range->src[0]);
  }
  std::ranges::reverse(sizes);
  return std::ranges::equal(sizes, from) ? x : uop::expand(g, x, sizes);
}

// x with these axes in front.
Ref with_in_front(Graph& g, Ref x, std::span<const int64_t> axes) {
  std::vector<int64_t> order(axes.begin(), axes.end());
  const auto rank = static_cast<int64_t>(shape(g, x).size());
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) order.push_back(axis);
  }
  return std::ranges::is_sorted(order) ? x : uop::permute(g, x, order);
}

// A folded value with its axes at their places again: those folded have size 1, and leading ones
// are left out.
Ref with_axes_back(Graph& g, Ref folded, Shape before, std::span<const int64_t> axes) {
  std::vector<Ref> sizes(before.begin(), before.end());
  for (const int64_t axis : axes) sizes[static_cast<size_t>(axis)] = uop::dim(g, 1);
  const auto first = std::ranges::find_if(sizes, [](Ref s) { return !uop::is_dim(s, 1); });
  sizes.erase(sizes.begin(), first);
  return std::ranges::equal(sizes, shape(g, folded)) ? folded : uop::reshape(g, folded, sizes);
}

// A fold over ranges and lanes: of the lanes those of which there are several are axes in front.
Ref expand_reduce(Graph& g, const RangeMap& lanes, Ref u, std::span<const Ref> src) {
  ASSAY_CHECK(u->arg.number() == 0, "a tiled reduce folds {} axes", u->arg.number());
  std::vector<Ref> sources(1);
  std::vector<Ref> folded;
  for (size_t i = 1; i < u->src.size(); ++i) {
    const bool is_lanes = is_lane_axis(u->src[i]);
    if (!is_lanes) sources.push_back(src[i]);
    if (is_lanes && !uop::is_dim(u->src[i]->src[0], 1)) folded.push_back(u->src[i]);
  }
  std::ranges::sort(folded, {}, [](Ref r) { return r->arg.number(); });
  const Ref x = with_axes(g, lanes, src[0], folded);
  const Shape before = shape(g, x);
  std::vector<int64_t> axes;
  axes.reserve(folded.size());
  for (const Ref range : folded) {
    axes.push_back(static_cast<int64_t>(before.size() - from_right(lanes, range)));
  }
  sources[0] = with_in_front(g, x, axes);
  const auto count = static_cast<int32_t>(axes.size());
  const Ref value = g.make(Op::Reduce, u->dtype, sources, Arg::fold(u->arg.fold_op(), count));
  return with_axes_back(g, value, before, axes);
}

// What an END closes but for lanes, all of which its body is done for at once.
Ref expand_end(Graph& g, Ref u, std::span<const Ref> src) {
  std::vector<Ref> sources = {src[0]};
  for (size_t i = 1; i < src.size(); ++i) {
    if (!is_lane_axis(u->src[i])) sources.push_back(src[i]);
  }
  return sources.size() == 1 && u->src.size() > 1 ? src[0] : on_sources(g, u, sources);
}

Result<Ref> expand(Run& run, Ref root) {
  Graph& g = run.graph();
  const std::vector<Ref> order = toposort(g, root);
  const RangeMap lanes = build_range_map(order);
  if (lanes.empty()) return root;
  return rebuild(g, order, [&](Ref u, std::span<const Ref> src) {
    if (is_lane_axis(u)) return lanes_of(g, lanes, u);
    if (u->op == Op::Reduce) return expand_reduce(g, lanes, u, src);
    if (u->op == Op::End) return expand_end(g, u, src);
    return on_sources(g, u, src);
  });
}

}  // namespace

const uop::Pass& expander() {
  static const uop::Pass pass = {"expander", tiled_form(), expanded_form(), {}, {}, expand};
  return pass;
}

}  // namespace assay::codegen
