#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/uop/shape.h"

namespace assay::uop {
namespace {

using Fault = std::optional<std::string>;

std::string dim_text(Ref size) {
  const std::string text = shape_text({&size, 1});
  return text.substr(1, text.size() - 2);
}

// For all values of their variables.
bool is_above(Graph& g, Ref a, Ref b) { return dim_difference(g, a, b).lo > 0; }
bool is_negative(Graph& g, Ref a) { return bounds(g, a).hi < 0; }

// Where a part of storage begins is computed, so it has a width in the end.
bool is_begin(Ref u, size_t source) { return u->op == Op::Shrink && source % 2 == 1; }

// Sources from `first` on are sizes: scalars of type `index`.
Fault sizes_fault(Graph& g, Ref u, size_t first) {
  for (size_t i = first; i < u->src.size(); i++) {
    const Ref s = u->src[i];
    if (s->dtype != Index && !(is_begin(u, i) && is_int(s->dtype))) {
      return fmt::format("size {} of {} is {}, not index", i - first, to_text(u->op),
                         to_text(s->dtype));
    }
    if (!shape(g, s).empty()) {
      return fmt::format("size {} of {} has shape {}", i - first, to_text(u->op),
                         shape_text(shape(g, s)));
    }
  }
  return std::nullopt;
}

// "pad of [3]" and the like, to begin a message with.
std::string subject(Graph& g, Ref u) {
  return fmt::format("{} of {}", to_text(u->op), shape_text(shape(g, u->src[0])));
}

Fault broadcast_fault(Graph& g, std::span<const Ref> sources) {
  Shape all;
  for (const Ref s : sources) {
    const Result<Shape> joined = broadcast(g, all, shape(g, s));
    if (!joined.ok()) return joined.error().message;
    all = joined.value();
  }
  return std::nullopt;
}

Fault elementwise_fault(Graph& g, Ref u) { return broadcast_fault(g, u->src); }

Fault storage_fault(Graph& g, Ref u) {
  for (const Ref s : u->src) {
    if (s->op == Op::Device) continue;
    if (s->dtype != Index || !shape(g, s).empty()) {
      return fmt::format("{} has a source {} that is neither a size nor a device", to_text(u->op),
                         to_text(s->op));
    }
  }
  return std::nullopt;
}

// The last axis must hold whole elements of the new width; a scalar has no axis to scale.
Fault bitcast_fault(Graph& g, Ref u) {
  const DType from = u->src[0]->dtype;
  if (from == u->dtype || bits_of(from) == bits_of(u->dtype)) return std::nullopt;
  const std::string what =
      fmt::format("bitcast of {} {}", to_text(from), shape_text(shape(g, u->src[0])));
  if (bits_of(from) % 8 != 0 || bits_of(u->dtype) % 8 != 0 || shape(g, u->src[0]).empty()) {
    return fmt::format("{} to {} changes the width of an element", what, to_text(u->dtype));
  }
  const Ref bytes[] = {shape(g, u->src[0]).back(), dim(g, bytes_of(from))};
  const Ref whole[] = {shape(g, u).back(), dim(g, bytes_of(u->dtype))};
  if (products_may_equal(g, bytes, whole)) return std::nullopt;
  return fmt::format("{} to {} cuts an element", what, to_text(u->dtype));
}

Fault reshape_fault(Graph& g, Ref u) {
  if (const Fault fault = sizes_fault(g, u, 1)) return fault;
  if (products_may_equal(g, shape(g, u->src[0]), shape(g, u))) return std::nullopt;
  return fmt::format("{} to {} changes the number of elements", subject(g, u),
                     shape_text(shape(g, u)));
}

Fault expand_fault(Graph& g, Ref u) {
  if (const Fault fault = sizes_fault(g, u, 1)) return fault;
  const Shape from = shape(g, u->src[0]);
  const Shape to = shape(g, u);
  if (from.size() > to.size()) {
    return fmt::format("{} to {} drops an axis", subject(g, u), shape_text(to));
  }
  const Shape aligned = to.subspan(to.size() - from.size());
  for (size_t i = 0; i < from.size(); i++) {
    if (may_be(bounds(g, from[i]), 1) || may_equal(g, from[i], aligned[i])) continue;
    return fmt::format("{} to {} repeats an axis of size {}", subject(g, u), shape_text(to),
                       dim_text(from[i]));
  }
  return std::nullopt;
}

// Each axis that the argument lists exists and is listed once.
Fault axes_fault(Graph& g, Ref u) {
  const auto rank = static_cast<int64_t>(shape(g, u->src[0]).size());
  std::vector<bool> seen(rank);
  for (const int64_t axis : u->arg.numbers()) {
    if (axis < 0 || axis >= rank) return fmt::format("{} has no axis {}", subject(g, u), axis);
    if (seen[axis]) return fmt::format("{} names axis {} twice", subject(g, u), axis);
    seen[axis] = true;
  }
  return std::nullopt;
}

Fault permute_fault(Graph& g, Ref u) {
  const size_t named = u->arg.numbers().size();
  if (named != shape(g, u->src[0]).size()) {
    return fmt::format("{} names {} axes", subject(g, u), named);
  }
  return axes_fault(g, u);
}

// A pair of sizes for each axis.
Fault pairs_fault(Graph& g, Ref u) {
  const size_t rank = shape(g, u->src[0]).size();
  if (u->src.size() == 2 * rank + 1) return sizes_fault(g, u, 1);
  return fmt::format("{} has {} amounts when {} are needed", subject(g, u), u->src.size() - 1,
                     2 * rank);
}

Fault pad_fault(Graph& g, Ref u) {
  if (const Fault fault = pairs_fault(g, u)) return fault;
  for (size_t i = 1; i < u->src.size(); i++) {
    if (!is_negative(g, u->src[i])) continue;
    return fmt::format("{} adds {} to axis {}", subject(g, u), dim_text(u->src[i]), (i - 1) / 2);
  }
  return std::nullopt;
}

Fault shrink_fault(Graph& g, Ref u) {
  if (const Fault fault = pairs_fault(g, u)) return fault;
  const Shape from = shape(g, u->src[0]);
  for (size_t i = 0; i < from.size(); i++) {
    const Ref begin = as_dim(g, u->src[2 * i + 1]);
    const Ref size = u->src[2 * i + 2];
    const Ref end = dim_add(g, begin, size);
    if (!is_negative(g, begin) && !is_negative(g, size) && !is_above(g, end, from[i])) continue;
    return fmt::format("{} takes {} from {} of axis {}", subject(g, u), dim_text(size),
                       dim_text(begin), i);
  }
  return std::nullopt;
}

bool may_agree(Graph& g, Shape a, Shape b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](Ref x, Ref y) { return may_equal(g, x, y); });
}

// All sources have one shape; Invalid stands for an element of any.
Fault equal_fault(Graph& g, Ref u) {
  Ref first = nullptr;
  for (const Ref s : u->src) {
    if (s->op == Op::Invalid) continue;
    if (first == nullptr) first = s;
    if (may_agree(g, shape(g, first), shape(g, s))) continue;
    return fmt::format("{} of shapes {} and {}", to_text(u->op), shape_text(shape(g, first)),
                       shape_text(shape(g, s)));
  }
  return std::nullopt;
}

Fault reduce_fault(Graph& g, Ref u) {
  const auto rank = static_cast<int64_t>(shape(g, u->src[0]).size());
  if (0 <= u->arg.number() && u->arg.number() <= rank) return std::nullopt;
  return fmt::format("{} folds {} axes", subject(g, u), u->arg.number());
}

Fault index_fault(Graph& g, Ref u) {
  if (u->src.size() - 1 > shape(g, u->src[0]).size()) {
    return fmt::format("{} takes {} indices", subject(g, u), u->src.size() - 1);
  }
  return broadcast_fault(g, u->src.subspan(1));
}

// Sources after the first broadcast to the shape of the first: a load's alternative and gate, a
// store's value and gate.
Fault access_fault(Graph& g, Ref u) {
  const Shape target = shape(g, u->src[0]);
  for (const Ref s : u->src.subspan(1)) {
    const Result<Shape> joined = broadcast(g, target, shape(g, s));
    if (joined.ok() && may_agree(g, target, joined.value())) continue;
    return fmt::format("{} has a source of shape {}", subject(g, u), shape_text(shape(g, s)));
  }
  return std::nullopt;
}

struct FaultRow {
  OpSet ops;
  Fault (*fault)(Graph&, Ref);
};

// Operations without a row fit any shapes, scalar functions without one must broadcast.
constexpr FaultRow kFaults[] = {
    {{Op::Buffer, Op::Param}, storage_fault},
    {{Op::Bitcast}, bitcast_fault},
    {{Op::Reshape}, reshape_fault},
    {{Op::Expand}, expand_fault},
    {{Op::Permute}, permute_fault},
    {{Op::Flip}, axes_fault},
    {{Op::Pad}, pad_fault},
    {{Op::Shrink}, shrink_fault},
    {{Op::Stack, Op::MStack}, equal_fault},
    {{Op::Reduce}, reduce_fault},
    {{Op::Index}, index_fault},
    {{Op::Load, Op::Store}, access_fault},
};

// Sizes are not negative, and 64 bits count the elements.
Fault result_fault(Graph& g, Ref u) {
  const Shape sizes = shape(g, u);
  bool constant = true;
  for (const Ref size : sizes) {
    constant = constant && is_const(size);
    if (!is_negative(g, size)) continue;
    return fmt::format("{} has an axis of size {}", to_text(u->op), dim_text(size));
  }
  if (!constant || constant_size(sizes).has_value()) return std::nullopt;
  return fmt::format("{} of shape {} has more elements than 64 bits count", to_text(u->op),
                     shape_text(sizes));
}

}  // namespace

std::optional<std::string> shape_error(Graph& g, Ref u) {
  const auto* row =
      std::ranges::find_if(kFaults, [&](const FaultRow& r) { return r.ops.has(u->op); });
  Fault fault;
  if (row != std::end(kFaults)) {
    fault = row->fault(g, u);
  } else if (is_scalar(u->op)) {
    fault = elementwise_fault(g, u);
  }
  return fault ? fault : result_fault(g, u);
}

}  // namespace assay::uop
