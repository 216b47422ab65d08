// Movement of shapes: what moves nothing goes, and two moves of one kind are one.
#include <algorithm>
#include <vector>

#include "engine/uop/dim.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/shape.h"

namespace assay::uop {
namespace {

bool is_zero(Ref u) { return is_dim(u, 0); }

// The sources of a movement after the first.
std::span<const Ref> amounts(Ref u) { return u->src.subspan(1); }

bool moves_nothing(Graph& g, Ref u) {
  const Shape before = shape(g, u->src[0]);
  switch (u->op) {
    case Op::Reshape:
    case Op::Expand: return shape(g, u).data() == before.data();
    case Op::Permute: {
      const auto order = u->arg.numbers();
      for (size_t i = 0; i < order.size(); i++) {
        if (order[i] != static_cast<int64_t>(i)) return false;
      }
      return true;
    }
    case Op::Flip: {
      const auto axes = u->arg.numbers();
      return std::all_of(axes.begin(), axes.end(), [&](int64_t axis) {
        return is_dim(before[static_cast<size_t>(axis)], 1);
      });
    }
    case Op::Pad: return std::all_of(amounts(u).begin(), amounts(u).end(), is_zero);
    default:
      for (size_t i = 0; i < before.size(); i++) {
        if (!is_zero(amounts(u)[2 * i]) || amounts(u)[2 * i + 1] != before[i]) return false;
      }
      return true;
  }
}

Ref no_movement(Run& run, Ref u) {
  Graph& g = run.graph();
  return !shape_error(g, u) && moves_nothing(g, u) ? u->src[0] : nullptr;
}

// The inner one of two movements of one kind, both well-formed; null otherwise.
Ref inner_of_two(Graph& g, Ref u) {
  const Ref inner = u->src[0];
  return inner->op == u->op && !shape_error(g, u) && !shape_error(g, inner) ? inner : nullptr;
}

// A reshape or expand by another is one to the outer shape.
Ref outer_shape(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref inner = inner_of_two(g, u);
  if (inner == nullptr) return nullptr;
  std::vector<Ref> sources(u->src.begin(), u->src.end());
  sources[0] = inner->src[0];
  return g.with_sources(u, sources);
}

Ref permute_of_permute(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref inner = inner_of_two(g, u);
  if (inner == nullptr) return nullptr;
  std::vector<int64_t> order;
  for (const int64_t axis : u->arg.numbers()) {
    order.push_back(inner->arg.numbers()[static_cast<size_t>(axis)]);
  }
  return permute(g, inner->src[0], order);
}

Ref flip_of_flip(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref inner = inner_of_two(g, u);
  if (inner == nullptr) return nullptr;
  std::vector<int64_t> outer_axes(u->arg.numbers().begin(), u->arg.numbers().end());
  std::vector<int64_t> inner_axes(inner->arg.numbers().begin(), inner->arg.numbers().end());
  std::sort(outer_axes.begin(), outer_axes.end());
  std::sort(inner_axes.begin(), inner_axes.end());
  std::vector<int64_t> axes;
  std::set_symmetric_difference(outer_axes.begin(), outer_axes.end(), inner_axes.begin(),
                                inner_axes.end(), std::back_inserter(axes));
  return flip(g, inner->src[0], axes);
}

Ref pad_of_pad(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref inner = inner_of_two(g, u);
  if (inner == nullptr) return nullptr;
  std::vector<Ref> sums;
  for (size_t i = 0; i < amounts(u).size(); i++) {
    sums.push_back(dim_add(g, amounts(u)[i], amounts(inner)[i]));
  }
  return pad(g, inner->src[0], sums);
}

Ref shrink_of_shrink(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref inner = inner_of_two(g, u);
  if (inner == nullptr) return nullptr;
  std::vector<Ref> bounds;
  for (size_t i = 0; i < amounts(u).size(); i += 2) {
    bounds.push_back(dim_add(g, amounts(u)[i], amounts(inner)[i]));
    bounds.push_back(amounts(u)[i + 1]);
  }
  return shrink(g, inner->src[0], bounds);
}

// What a pad put around a value, a shrink takes away again.
Ref shrink_of_pad(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref padded = u->src[0];
  if (padded->op != Op::Pad || shape_error(g, u) || shape_error(g, padded)) return nullptr;
  const Ref x = padded->src[0];
  const Shape sizes = shape(g, x);
  for (size_t i = 0; i < sizes.size(); i++) {
    const bool same_place = amounts(u)[2 * i] == amounts(padded)[2 * i];
    if (!same_place || amounts(u)[2 * i + 1] != sizes[i]) return nullptr;
  }
  return x;
}

}  // namespace

const RuleSet& movement_rules() {
  static const RuleSet rules(
      "movement",
      {
          by("no_movement", kScalars,
             {Op::Reshape, Op::Expand, Op::Permute, Op::Flip, Op::Pad, Op::Shrink}, no_movement,
             "a movement to the same shape that leaves every element where it was is its source"),
          by("outer_shape", kScalars, {Op::Reshape, Op::Expand}, outer_shape,
             "a reshape of a reshape, and an expand of an expand, is the outer one of the source"),
          by("permute_of_permute", kScalars, {Op::Permute}, permute_of_permute,
             "two permutations are one"),
          by("flip_of_flip", kScalars, {Op::Flip}, flip_of_flip,
             "two flips flip the axes that are in one of them"),
          by("pad_of_pad", kScalars, {Op::Pad}, pad_of_pad, "two pads add up"),
          by("shrink_of_shrink", kScalars, {Op::Shrink}, shrink_of_shrink,
             "a shrink of a shrink begins at the sum of both beginnings"),
          by("shrink_of_pad", kScalars, {Op::Shrink}, shrink_of_pad,
             "a shrink to what was there before a pad is the source of the pad"),
      });
  return rules;
}

}  // namespace assay::uop
