// A large reduce in two steps.
#include <algorithm>
#include <vector>

#include "engine/schedule/access.h"
#include "engine/schedule/prepare_rules.h"
#include "engine/uop/dim.h"
#include "engine/uop/scope.h"

namespace assay::schedule {
namespace {

using uop::Arg;
using uop::DType;
using uop::is_movement;
using uop::Op;

constexpr int64_t kThreshold = 32768;  // elements to one result
constexpr int64_t kMostParts = 256;
constexpr int64_t kLeastParts = 8;
constexpr int64_t kMostResults = int64_t{1} << 22;  // of the first step

// Whether movement below x reads all along the axis: not where it repeats elements.
std::vector<bool> live_axes(Run& run, Ref x) {
  Graph& g = run.graph();
  const Shape sizes = uop::shape(g, x);
  std::vector<Ref> ranges;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Arg axis = Arg::axis(static_cast<int32_t>(i), uop::AxisType::Weak);
    ranges.push_back(g.make(Op::Range, DType::Index, {sizes[i]}, axis));
  }
  Indexer indexer(run);
  Access at = {uop::intern_shape(g, ranges), nullptr};
  for (; is_movement(x->op); x = x->src[0]) {
    Ref inside = nullptr;
    at = indexer.through(x, at, &inside);
  }
  std::vector<bool> live(sizes.size());
  for (const Ref u : at.index) {
    for (const Ref r : uop::ranges(g, u)) live[static_cast<size_t>(r->arg.number())] = true;
  }
  return live;
}

// The reduce with the axis in `parts` parts, each reduced by itself.
Ref in_parts(Graph& g, Ref u, size_t axis, int64_t parts) {
  const Ref x = u->src[0];
  const Op op = u->arg.fold_op();
  const Shape from = uop::shape(g, x);
  std::vector<Ref> sizes(from.begin(), from.end());
  const Ref count = uop::dim(g, parts);
  sizes[axis] = uop::dim_div(g, sizes[axis], count);
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), count);
  const Ref split = uop::reshape(g, x, sizes);
  std::vector<int64_t> order;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i != axis) order.push_back(static_cast<int64_t>(i));
  }
  order.push_back(static_cast<int64_t>(axis));
  const Ref last = uop::permute(g, split, order);
  const auto folded = static_cast<int32_t>(u->arg.number());
  const Ref first = g.make(Op::Reduce, u->dtype, {last}, Arg::fold(op, folded));
  const Ref stored = g.make(Op::Contiguous, u->dtype, {first});
  const auto rank = static_cast<int64_t>(uop::shape(g, stored).size());
  std::vector<int64_t> front = {rank - 1};
  for (int64_t i = 0; i < rank - 1; ++i) front.push_back(i);
  const Ref moved = uop::permute(g, stored, front);
  return g.make(Op::Reduce, u->dtype, {moved}, Arg::fold(op, 1));
}

}  // namespace

Ref split_reduce(Run& run, Ref u) {
  Graph& g = run.graph();
  const Shape from = uop::shape(g, u->src[0]);
  const std::optional<int64_t> elements = uop::constant_size(from);
  const std::optional<int64_t> results = uop::constant_size(uop::shape(g, u));
  if (!elements || !results || *results == 0 || *elements / *results < kThreshold) return nullptr;
  const int64_t most = std::min(kMostParts, kMostResults / *results);
  const std::vector<bool> live = live_axes(run, u->src[0]);
  for (size_t axis = 0; axis < static_cast<size_t>(u->arg.number()); ++axis) {
    const auto size = static_cast<int64_t>(as_int(from[axis]->value()));
    for (int64_t parts = most; live[axis] && parts >= kLeastParts; --parts) {
      if (size % parts == 0) return in_parts(g, u, axis, parts);
    }
  }
  return nullptr;
}

}  // namespace assay::schedule
