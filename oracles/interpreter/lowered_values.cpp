#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "oracles/interpreter/lowered_planner.h"
#include "oracles/interpreter/sizes.h"
#include "oracles/interpreter/strides.h"

// The steps of values, and of whether they are Invalid.
namespace assay::interpreter {

using uop::Op;
using uop::Ref;

namespace {

bool moves_elements(Ref u) {
  return u->op == Op::Expand || u->op == Op::Permute || u->op == Op::Flip || u->op == Op::Stack ||
         u->op == Op::Shrink;
}

bool changes_width(Ref u) {
  return u->op == Op::Bitcast && uop::bits_of(u->dtype) != uop::bits_of(u->src[0]->dtype);
}

}  // namespace

Result<std::vector<int64_t>> LoweredPlanner::sizes(std::span<const Ref> terms) {
  Sizes all;
  for (const Ref term : terms) {
    if (term->op == Op::Device) continue;
    ASSAY_TRY(size, size_value(graph_, term, variables_));
    all.push_back(size);
  }
  return all;
}

Result<int> LoweredPlanner::emit_value(Ref u, int scope) {
  if (axes_.is_view(u) || u->op == Op::Load) return emit_read(u, scope);
  if (moves_elements(u)) return emit_move(u, scope, Aspect::Value);
  if (changes_width(u)) return emit_bits(u, scope);
  switch (u->op) {
    case Op::Const: return constant(u->dtype, constant_slot(u), scope);
    case Op::Invalid: return constant(u->dtype, poison(u->dtype), scope);
    case Op::Variable:
    case Op::Bind: {
      ASSAY_TRY(now, variable_value(u, variables_));
      return constant(u->dtype, now, scope);
    }
    case Op::Range:
    case Op::Special: return emit_range(u, scope);
    case Op::Reshape: return emit_move(u, scope, Aspect::Value);
    case Op::Reduce: return emit_reduce(u, scope);
    case Op::Index: return emit_pick(u, scope, Aspect::Value);
    case Op::After: {
      const int now = value(u->src[0], scope);
      happened_after(u, scope);
      return now;
    }
    default: return emit_scalar(u, scope);
  }
}

// A scalar function is valid where all its sources are, a select where its condition is and the
// source that it picks. What is read is a value, though poison where nothing is read.
Result<int> LoweredPlanner::emit_validity(Ref u, int scope) {
  if (u->op == Op::Invalid) return constant(uop::Bool, 0, scope);
  if (axes_.is_view(u)) return kAlways;
  if (moves_elements(u) || u->op == Op::Reshape) return emit_move(u, scope, Aspect::Validity);
  if (u->op == Op::Index) return emit_pick(u, scope, Aspect::Validity);
  if (u->op == Op::After) return validity(u->src[0], scope);
  if (u->op == Op::Where) return where_validity(u, scope);
  if (!uop::is_scalar(u->op)) return kAlways;
  std::vector<int> of;
  for (const Ref s : u->src) of.push_back(validity(s, scope));
  if (!missing_.empty()) return kMissing;
  int valid = kAlways;
  for (const int more : of) {
    ASSAY_TRY(joined, both(valid, more, scope));
    valid = joined;
  }
  if (valid >= 0 && changes_width(u)) return Error{"a bitcast of what may be invalid"};
  return valid;
}

Result<int> LoweredPlanner::where_validity(Ref u, int scope) {
  const int of_condition = validity(u->src[0], scope);
  int chosen = validity(u->src[1], scope);
  int other = validity(u->src[2], scope);
  if (!missing_.empty()) return kMissing;
  if (chosen == kAlways && other == kAlways) return of_condition;
  const int condition = value(u->src[0], scope);
  if (!missing_.empty()) return kMissing;
  if (chosen == kAlways) chosen = constant(uop::Bool, 1, scope);
  if (other == kAlways) other = constant(uop::Bool, 1, scope);
  ASSAY_TRY(picked, scalar(Op::Where, uop::Bool, {condition, chosen, other}, scope));
  return both(of_condition, picked, scope);
}

// Ranges of loops are known where their scope was opened; what is left are axes.
Result<int> LoweredPlanner::emit_range(Ref u, int scope) {
  for (size_t k = 0; k < axes_.axes.size(); k++) {
    if (axes_.axes[k].node != u) continue;
    return add({.kind = Kind::Axis, .dtype = u->dtype, .laned = true, .at = static_cast<int>(k)},
               scope);
  }
  return Error{fmt::format("range {} is used outside its loop", u->arg.number())};
}

Result<int> LoweredPlanner::emit_scalar(Ref u, int scope) {
  if (!uop::is_scalar(u->op))
    return Error{fmt::format("{} is no value in a kernel", uop::to_text(u->op))};
  std::vector<int> of;
  for (const Ref s : u->src) of.push_back(value(s, scope));
  if (!missing_.empty()) return kMissing;
  if (of.size() == 1) return scalar(u->op, u->dtype, {of[0]}, scope);
  if (of.size() == 2) return scalar(u->op, u->dtype, {of[0], of[1]}, scope);
  return scalar(u->op, u->dtype, {of[0], of[1], of[2]}, scope);
}

Result<int> LoweredPlanner::emit_bits(Ref u, int scope) {
  const int from = value(u->src[0], scope);
  if (!missing_.empty()) return kMissing;
  Sizes shape = step(from).shape;
  const int64_t width = uop::bytes_of(u->dtype);
  const int64_t bytes = shape.empty() ? 0 : shape.back() * uop::bytes_of(u->src[0]->dtype);
  if (shape.empty() || bytes % width != 0)
    return Error{fmt::format("bitcast of {} as {}: the last axis does not fit",
                             uop::to_text(u->src[0]->dtype), uop::to_text(u->dtype))};
  shape.back() = bytes / width;
  return add({.kind = Kind::Bits, .dtype = u->dtype, .shape = std::move(shape), .sources = {from}},
             scope);
}

// INDEX of a value.
Result<int> LoweredPlanner::emit_pick(Ref u, int scope, Aspect aspect) {
  const int from = need(u->src[0], scope, aspect);
  if (from == kAlways) return kAlways;
  std::vector<int> indices;
  int valid = kAlways;
  std::vector<int> validities;
  for (const Ref i : u->src.subspan(1)) {
    indices.push_back(value(i, scope));
    validities.push_back(validity(i, scope));
  }
  if (!missing_.empty()) return kMissing;
  for (const int v : validities) {
    ASSAY_TRY(joined, both(valid, v, scope));
    valid = joined;
  }
  const Sizes shape = step(from).shape;
  if (indices.size() > shape.size()) return Error{"more indices than axes"};
  ASSAY_TRY(rows, flat(indices, shape, scope));
  Sizes to = step(rows).shape;
  to.insert(to.end(), shape.begin() + static_cast<std::ptrdiff_t>(indices.size()), shape.end());
  ASSAY_TRY(held, fitted(valid < 0 ? -1 : valid, step(rows).shape, scope));
  return add({.kind = Kind::Pick,
              .dtype = step(from).dtype,
              .shape = std::move(to),
              .sources = {from, rows, held},
              .axes = axes_.axes_of(axes_.free_of(u))},
             scope);
}

Result<std::vector<LoweredStep::Taken>> LoweredPlanner::moves(Ref u, const std::vector<Sizes>& from,
                                                              Sizes& to) {
  std::vector<LoweredStep::Taken> taken;
  const auto take = [&](int source, const Sizes& shape, const Sizes& strides, int64_t first) {
    for (const int64_t e : elements_of(shape, strides, first)) taken.push_back({source, e});
  };
  if (u->op == Op::Stack) {
    ASSAY_TRY(each, broadcast_sizes(from));
    for (size_t k = 0; k < from.size(); k++)
      take(static_cast<int>(k), each, broadcast_strides(from[k], each), 0);
    to = each;
    to.insert(to.begin(), static_cast<int64_t>(from.size()));
    return taken;
  }
  Sizes strides = row_major(from[0]);
  int64_t first = 0;
  to = from[0];
  if (u->op == Op::Expand) {
    ASSAY_TRY(wanted, sizes(u->src.subspan(1)));
    const std::vector<Sizes> shapes = {from[0], wanted};
    ASSAY_TRY(joined, broadcast_sizes(shapes));
    if (joined != wanted) return Error{"expand to what it does not broadcast to"};
    to = wanted;
    strides = broadcast_strides(from[0], to);
  } else if (u->op == Op::Permute) {
    const Sizes own = strides;
    for (size_t i = 0; i < to.size(); i++) {
      to[i] = from[0][static_cast<size_t>(u->arg.numbers()[i])];
      strides[i] = own[static_cast<size_t>(u->arg.numbers()[i])];
    }
  } else if (u->op == Op::Flip) {
    for (const int64_t axis : u->arg.numbers()) {
      const auto i = static_cast<size_t>(axis);
      first += strides[i] * (to[i] - 1);
      strides[i] = -strides[i];
    }
  } else {
    ASSAY_TRY(bounds, sizes(u->src.subspan(1)));
    for (size_t i = 0; i < to.size(); i++) {
      if (bounds[2 * i] < 0 || bounds[2 * i] + bounds[2 * i + 1] > to[i])
        return Error{fmt::format("shrink of axis {} outside its {}", i, to[i])};
      first += strides[i] * bounds[2 * i];
      to[i] = bounds[2 * i + 1];
    }
  }
  take(0, to, strides, first);
  return taken;
}

// What an operation that moves elements moves: of validity, that has yet to get the value's shape.
Result<std::vector<int>> LoweredPlanner::moved_sources(Ref u, int scope, Aspect aspect) {
  const size_t count = u->op == Op::Stack ? u->src.size() : 1;
  std::vector<int> of;
  std::vector<int> values;
  for (size_t k = 0; k < count; k++) of.push_back(need(u->src[k], scope, aspect));
  for (size_t k = 0; k < count; k++) values.push_back(value(u->src[k], scope));
  const bool always = std::all_of(of.begin(), of.end(), [](int s) { return s == kAlways; });
  if (!missing_.empty() || aspect == Aspect::Value || always) return of;
  for (size_t k = 0; k < count; k++) {
    if (of[k] == kAlways) of[k] = constant(uop::Bool, 1, scope);
    of[k] = spread(of[k], step(values[k]).shape, scope);
  }
  return of;
}

Result<int> LoweredPlanner::emit_move(Ref u, int scope, Aspect aspect) {
  ASSAY_TRY(of, moved_sources(u, scope, aspect));
  if (!missing_.empty()) return kMissing;
  if (!of.empty() && of[0] == kAlways) return kAlways;
  const DType t = aspect == Aspect::Validity ? uop::Bool : u->dtype;
  if (u->op == Op::Reshape) {
    ASSAY_TRY(shape, sizes(u->src.subspan(1)));
    if (product_of(shape) != step(of[0]).size)
      return Error{
          fmt::format("reshape of {} elements to {}", step(of[0]).size, product_of(shape))};
    return same(of[0], std::move(shape), scope);
  }
  std::vector<Sizes> from;
  for (const int s : of) from.push_back(step(s).shape);
  LoweredStep now = {.kind = Kind::Move, .dtype = t, .sources = of};
  ASSAY_TRY(taken, moves(u, from, now.shape));
  now.moves = std::move(taken);
  return add(std::move(now), scope);
}

// Folded over its ranges, as loops in their order, and in each iteration over its leading axes.
// What is Invalid leaves the fold as it is.
Result<int> LoweredPlanner::emit_reduce(Ref u, int scope) {
  const std::optional<Fold> fold = fold_of(u->arg.fold_op(), u->dtype);
  if (!fold) return Error{fmt::format("reduce by {}", uop::to_text(u->arg.fold_op()))};
  int inner = scope;
  if (const std::vector<Ref> ranges = axes_.closed(u); !ranges.empty()) {
    ASSAY_TRY(opened, open(u, ranges, scope));
    inner = opened;
  }
  int body = value(u->src[0], inner);
  const int valid = validity(u->src[0], inner);
  if (!missing_.empty()) return kMissing;
  if (valid >= 0) {
    const int unit = constant(u->dtype, fold->unit, inner);
    ASSAY_TRY(picked, scalar(Op::Where, u->dtype, {valid, body, unit}, inner));
    body = picked;
  }
  Sizes shape = step(body).shape;
  const auto axes = static_cast<std::ptrdiff_t>(u->arg.number());
  if (axes > std::ssize(shape)) return Error{"a reduce over more axes than there are"};
  shape.erase(shape.begin(), shape.begin() + axes);
  return add({.kind = Kind::Fold,
              .dtype = u->dtype,
              .shape = std::move(shape),
              .sources = {body},
              .at = inner == scope ? -1 : inner,
              .value = fold->unit,
              .scalar = fold->step},
             scope);
}

}  // namespace assay::interpreter
