#include <fmt/format.h>

#include <algorithm>

#include "oracles/interpreter/lowered_planner.h"
#include "oracles/interpreter/sizes.h"
#include "oracles/interpreter/strides.h"

// The steps of places in storage, of reads, and of what changes storage.
namespace assay::interpreter {

using uop::Op;
using uop::Ref;

namespace {

constexpr int64_t kMostParams = 64;
constexpr uop::OpSet kGroups = {Op::Sink, Op::Group, Op::Barrier, Op::Noop};

}  // namespace

Result<int> LoweredPlanner::emit_place(Ref u, int scope) {
  switch (u->op) {
    case Op::Param:
    case Op::Buffer: return emit_storage(u);
    case Op::Index:
    case Op::Shrink: return emit_part(u, scope);
    case Op::Stage: return emit_stage(u, scope);
    default: break;
  }
  const int now = need(u->src[0], scope, Aspect::Place);
  happened_after(u, scope);
  return now;
}

int LoweredPlanner::add_place(Place p) {
  places_.push_back(std::move(p));
  return static_cast<int>(places_.size()) - 1;
}

Result<int> LoweredPlanner::emit_storage(Ref u) {
  const bool is_param = u->op == Op::Param;
  const uop::AddrSpace space = is_param ? uop::AddrSpace::Global : u->arg.addr_space();
  const int64_t number = u->arg.number();
  if (!is_param && space == uop::AddrSpace::Global)
    return Error{fmt::format("buffer {} of a kernel is global", number)};
  if (is_param && (number < 0 || number >= kMostParams))
    return Error{fmt::format("parameter {} of a kernel", number)};
  ASSAY_TRY(shape, sizes(u->src));
  const bool exact = std::all_of(u->src.begin(), u->src.end(),
                                 [](Ref s) { return s->op == Op::Device || uop::is_const(s); });
  for (const LoweredStorage& s : plan_.storage) {
    if (s.number != number || (s.space == uop::AddrSpace::Global) != is_param) continue;
    return Error{fmt::format("{} {} has two types", is_param ? "parameter" : "buffer", number)};
  }
  plan_.storage.push_back({.space = space,
                           .dtype = u->dtype,
                           .size = product_of(shape),
                           .number = number,
                           .exact = exact});
  return add_place({static_cast<int>(plan_.storage.size()) - 1, kWhole, kAlways, shape});
}

// The numbers of the elements of a place in its storage.
int LoweredPlanner::offsets_of(const Place& p, int scope) {
  if (p.offsets != kWhole) return p.offsets;
  return add({.kind = Kind::Iota, .dtype = uop::Index, .shape = p.shape}, scope);
}

// One index is taken as it is, so that messages show it.
Result<int> LoweredPlanner::flat(std::span<const int> indices, std::span<const int64_t> shape,
                                 int scope) {
  int place = -1;
  int inside = kAlways;
  for (size_t k = 0; k < indices.size(); k++) {
    ASSAY_TRY(index, scalar(Op::Cast, uop::Index, {indices[k]}, scope));
    if (indices.size() == 1) return index;
    const int size = constant(uop::Index, static_cast<Slot>(shape[k]), scope);
    const int before = constant(uop::Index, ~Slot{0}, scope);
    ASSAY_TRY(below, scalar(Op::Lt, uop::Bool, {index, size}, scope));
    ASSAY_TRY(above, scalar(Op::Lt, uop::Bool, {before, index}, scope));
    ASSAY_TRY(fits, both(below, above, scope));
    ASSAY_TRY(all, both(inside, fits, scope));
    inside = all;
    if (place < 0) {
      place = index;
      continue;
    }
    ASSAY_TRY(rows, scalar(Op::Mul, uop::Index, {place, size}, scope));
    ASSAY_TRY(sum, scalar(Op::Add, uop::Index, {rows, index}, scope));
    place = sum;
  }
  if (place < 0) return constant(uop::Index, 0, scope);
  const int outside = constant(uop::Index, ~Slot{0}, scope);
  return scalar(Op::Where, uop::Index, {inside, place, outside}, scope);
}

// The rows of a place that indices into its leading axes name.
Result<int> LoweredPlanner::part(const Place& base, std::span<const int> indices, int validity,
                                 uint64_t axes, int scope) {
  if (indices.size() > base.shape.size()) return Error{"more indices than axes"};
  ASSAY_TRY(rows, flat(indices, base.shape, scope));
  const Sizes outer = step(rows).shape;
  const Sizes rest(base.shape.begin() + static_cast<std::ptrdiff_t>(indices.size()),
                   base.shape.end());
  Sizes shape = outer;
  shape.insert(shape.end(), rest.begin(), rest.end());
  Sizes spread_out = outer;
  spread_out.insert(spread_out.end(), rest.size(), 1);
  if (validity >= 0 && step(validity).size > 1)
    validity = same(spread(validity, outer, scope), spread_out, scope);
  if (base.offsets != kWhole) {
    LoweredStep pick = {.kind = Kind::Pick,
                        .dtype = uop::Index,
                        .shape = shape,
                        .sources = {base.offsets, rows, -1},
                        .axes = axes};
    const int offsets = add(pick, scope);
    if (base.validity >= 0) {
      pick.dtype = uop::Bool;
      pick.sources[0] = spread(base.validity, base.shape, scope);
      ASSAY_TRY(all, both(validity, add(pick, scope), scope));
      validity = all;
    }
    return add_place({base.storage, offsets, validity, shape});
  }
  if (rest.empty()) return add_place({base.storage, rows, validity, shape});
  const int width = constant(uop::Index, static_cast<Slot>(product_of(rest)), scope);
  ASSAY_TRY(begins, scalar(Op::Mul, uop::Index, {same(rows, spread_out, scope), width}, scope));
  const int within = add({.kind = Kind::Iota, .dtype = uop::Index, .shape = rest}, scope);
  ASSAY_TRY(offsets, scalar(Op::Add, uop::Index, {begins, within}, scope));
  return add_place({base.storage, offsets, validity, shape});
}

// INDEX and SHRINK of storage.
Result<int> LoweredPlanner::emit_part(Ref u, int scope) {
  const int base = need(u->src[0], scope, Aspect::Place);
  const bool shrinks = u->op == Op::Shrink;
  const size_t stride = shrinks ? 2 : 1;
  std::vector<int> indices;
  std::vector<int> validities;
  for (size_t i = 1; i < u->src.size(); i += stride) {
    indices.push_back(value(u->src[i], scope));
    validities.push_back(validity(u->src[i], scope));
  }
  if (!missing_.empty()) return kMissing;
  int valid = kAlways;
  for (const int v : validities) {
    ASSAY_TRY(joined, both(valid, v, scope));
    valid = joined;
  }
  for (size_t k = 0; shrinks && k < indices.size(); k++) {
    ASSAY_TRY(size, size_value(graph_, u->src[2 * k + 2], variables_));
    Sizes shape(indices.size(), 1);
    shape[k] = size;
    const int within = add({.kind = Kind::Iota, .dtype = uop::Index, .shape = shape}, scope);
    ASSAY_TRY(begin, scalar(Op::Cast, uop::Index, {indices[k]}, scope));
    ASSAY_TRY(now, scalar(Op::Add, uop::Index, {begin, within}, scope));
    indices[k] = now;
  }
  return part(place(base), indices, valid, axes_.axes_of(axes_.free_of(u)), scope);
}

// STAGE(x, r…) is storage with an axis for each range, in which the element at the ranges' values
// is x.
Result<int> LoweredPlanner::emit_stage(Ref u, int scope) {
  ASSAY_TRY(inner, open_serial(u, scope));
  const int x = value(u->src[0], inner);
  std::vector<int> indices;
  Sizes shape;
  uint64_t free = axes_.free_of(u->src[0]);
  for (const Ref r : u->src.subspan(1)) {
    if (r->op != Op::Range && !uop::is_const(r)) return Error{"a stage over what is no range"};
    // A range of one iteration may have become a constant.
    ASSAY_TRY(size, size_value(graph_, r->op == Op::Range ? r->src[0] : r, variables_));
    shape.push_back(r->op == Op::Range ? size : size + 1);
    free |= axes_.free_of(r);
    indices.push_back(value(r, inner));
  }
  if (!missing_.empty()) return kMissing;
  const Sizes& each = step(x).shape;
  shape.insert(shape.end(), each.begin(), each.end());
  plan_.storage.push_back({.space = u->arg.addr_space(),
                           .dtype = u->dtype,
                           .size = product_of(shape),
                           .number = u->arg.number(),
                           .exact = true});
  const Place all = {static_cast<int>(plan_.storage.size()) - 1, kWhole, kAlways, shape};
  if (plan_.storage.back().space == uop::AddrSpace::Global)
    return Error{"a stage in global storage"};
  ASSAY_TRY(to, part(all, indices, kAlways, axes_.axes_of(free), inner));
  const auto wrote = write(free, place(to), kAlways, x, inner);
  if (!wrote.ok()) return wrote.error();
  if (inner != scope) add({.kind = Kind::Nest, .sources = {}, .at = inner}, scope);
  return add_place(all);
}

Result<int> LoweredPlanner::emit_effect(Ref u, int scope) {
  if (u->op == Op::Store) return emit_store(u, scope);
  if (u->op == Op::End) return emit_end(u, scope);
  if (u->op != Op::After && !kGroups.has(u->op))
    return Error{fmt::format("{} is not for this interpreter", uop::to_text(u->op))};
  for (const Ref s : u->src) happened(s, scope);
  return kDone;
}

// Ranges that are axes of the launch end where they are named; loops are run.
Result<int> LoweredPlanner::emit_end(Ref u, int scope) {
  ASSAY_TRY(inner, open_serial(u, scope));
  happened(u->src[0], inner);
  if (!missing_.empty()) return kMissing;
  if (inner != scope) add({.kind = Kind::Nest, .at = inner}, scope);
  return kDone;
}

Result<int> LoweredPlanner::emit_store(Ref u, int scope) {
  for (const auto& [store, other] : stores_) {
    if (store == u && other != scope) return Error{"a store that stands in two loops"};
  }
  if (!axes_.is_view(u->src[0])) return Error{"a store to what is no place in storage"};
  const int to = need(u->src[0], scope, Aspect::Place);
  const int x = value(u->src[1], scope);
  const int gate = u->src.size() == 3 ? value(u->src[2], scope) : kAlways;
  if (!missing_.empty()) return kMissing;
  stores_.emplace_back(u, scope);
  const auto wrote = write(axes_.free_of(u), place(to), gate, x, scope);
  if (!wrote.ok()) return wrote.error();
  return kDone;
}

// Registers are each lane's own, so all lanes write theirs; so do all groups to LOCAL storage.
Result<bool> LoweredPlanner::write(uint64_t free, Place to, int gate, int value, int scope) {
  LoweredStorage& storage = plan_.storage[static_cast<size_t>(to.storage)];
  if (step(value).dtype != storage.dtype) return Error{"a store of another type than its place"};
  storage.written = true;
  uint64_t axes = axes_.axes_of(free);
  if (storage.space == uop::AddrSpace::Local) axes |= axes_.group_axes();
  storage.axes |= axes;
  ASSAY_TRY(held, both(to.validity, gate, scope));
  ASSAY_TRY(gates, fitted(held < 0 ? -1 : held, to.shape, scope));
  ASSAY_TRY(values, fitted(value, to.shape, scope));
  add({.kind = Kind::Write,
       .dtype = step(value).dtype,
       .shape = to.shape,
       .sources = {offsets_of(to, scope), gates, values},
       .at = to.storage,
       .axes = axes},
      scope);
  return true;
}

// A place used as a value, or a LOAD of one.
Result<int> LoweredPlanner::emit_read(Ref u, int scope) {
  const bool loads = u->op == Op::Load;
  const Ref from = loads ? u->src[0] : u;
  if (!axes_.is_view(from)) return Error{"a load of what is no place in storage"};
  const int at = need(from, scope, Aspect::Place);
  const int other = loads && u->src.size() > 1 ? value(u->src[1], scope) : -1;
  const int gate = loads && u->src.size() > 2 ? value(u->src[2], scope) : kAlways;
  if (!missing_.empty()) return kMissing;
  const Place p = place(at);
  ASSAY_TRY(held, both(p.validity, gate, scope));
  ASSAY_TRY(gates, fitted(held < 0 ? -1 : held, p.shape, scope));
  ASSAY_TRY(others, fitted(other, p.shape, scope));
  const LoweredStorage& storage = plan_.storage[static_cast<size_t>(p.storage)];
  return add({.kind = Kind::Read,
              .dtype = storage.dtype,
              .laned = storage.space != uop::AddrSpace::Global,
              .shape = p.shape,
              .sources = {offsets_of(p, scope), gates, others},
              .at = p.storage,
              .axes = axes_.axes_of(axes_.free_of(u))},
             scope);
}

}  // namespace assay::interpreter
