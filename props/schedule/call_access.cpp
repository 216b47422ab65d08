#include "props/schedule/call_access.h"

#include <algorithm>
#include <limits>

#include "engine/uop/bounds.h"
#include "engine/uop/dtype.h"
#include "engine/uop/shape.h"

namespace assay::props {
namespace {

using uop::Int128;
using uop::Op;
using uop::Ref;

constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max();

int64_t product_within(int64_t a, int64_t b) {
  return b != 0 && a > kMostBytes / b ? kMostBytes : a * b;
}

// The part of `of` that a SHRINK of it leaves; some part, where that is not known.
ArgumentBytes shrunk(uop::Graph& g, ArgumentBytes of, Ref shrink) {
  const uop::Shape sizes = uop::shape(g, shrink->src[0]);
  ArgumentBytes some = of;
  some.is_whole = false;
  const int64_t width = uop::bytes_of(shrink->dtype);
  Int128 step = width;
  Int128 first = 0;
  Int128 last = 0;
  bool is_run = true;  // what is left is one run of bytes
  bool is_inner_whole = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    const Ref begin = shrink->src[1 + 2 * i];
    const Ref size = shrink->src[2 + 2 * i];
    if (!uop::is_const(sizes[i]) || !uop::is_const(begin) || !uop::is_const(size)) return some;
    const auto b = static_cast<int64_t>(begin->arg.bits);
    const auto n = static_cast<int64_t>(size->arg.bits);
    if (n == 0) return {of.storage, of.begin, of.begin, true};
    is_run = is_run && (n == 1 || is_inner_whole);
    is_inner_whole = is_inner_whole && size == sizes[i];
    first += b * step;
    last += (Int128{b} + n - 1) * step;
    step *= static_cast<int64_t>(sizes[i]->arg.bits);
    if (step > kMostBytes) return some;
  }
  if (!of.is_whole || first < 0 || last + width > of.end - of.begin) return some;
  return {of.storage, of.begin + static_cast<int64_t>(first),
          of.begin + static_cast<int64_t>(last) + width, is_run};
}

ArgumentBytes seen_through(uop::Graph& g, ArgumentBytes part, Ref view) {
  switch (view->op) {
    case Op::Shrink: return shrunk(g, part, view);
    case Op::Reshape:
    case Op::Bitcast:
    case Op::After:
    case Op::MSelect: return part;
    default: break;
  }
  // All other movement puts elements elsewhere, so that a part of those is some part.
  part.is_whole = false;
  return part;
}

}  // namespace

int64_t storage_bytes(uop::Graph& g, Ref storage) {
  const auto shape = uop::max_shape(g, uop::shape(g, storage));
  if (!shape) return kMostBytes;
  int64_t bytes = uop::bytes_of(storage->dtype);
  for (const Ref d : *shape) {
    if (!uop::is_const(d)) return kMostBytes;
    bytes = product_within(bytes, static_cast<int64_t>(d->arg.bits));
  }
  return bytes;
}

std::vector<ArgumentBytes> argument_bytes(uop::Graph& g, Ref argument) {
  std::vector<Ref> views;
  Ref u = argument;
  for (;;) {
    if (u->op == Op::MSelect && u->src[0]->op == Op::MStack) {
      const Ref stack = u->src[0];
      const auto k = static_cast<uint64_t>(u->arg.number());
      if (k >= stack->src.size()) return {};
      u = stack->src[k];
      continue;
    }
    const bool is_view = uop::is_movement(u->op) || u->op == Op::Bitcast || u->op == Op::After ||
                         u->op == Op::MSelect;
    if (!is_view) break;
    views.push_back(u);
    u = u->src[0];
  }
  std::vector<ArgumentBytes> parts;
  if (u->op == Op::Buffer || u->op == Op::Param) parts = {{u, 0, storage_bytes(g, u), true}};
  if (u->op == Op::MStack) {
    for (const Ref s : u->src) {
      const std::vector<ArgumentBytes> inner = argument_bytes(g, s);
      parts.insert(parts.end(), inner.begin(), inner.end());
    }
  }
  for (ArgumentBytes& part : parts) {
    for (size_t i = views.size(); i-- > 0;) part = seen_through(g, part, views[i]);
  }
  return parts;
}

CallAccesses::CallAccesses(uop::Graph& g, Ref linear) : g_(g), linear_(linear) {
  uop::NodeMap<int32_t> known;  // of an argument, its place in `parts`
  std::vector<std::vector<ArgumentBytes>> parts;
  begins_.push_back(0);
  for (int32_t k = 0; k < calls(); k++) {
    const Ref call = linear->src[static_cast<size_t>(k)];
    const std::vector<Ref> arguments = storage_arguments(call);
    for (size_t i = 0; i < arguments.size(); i++) {
      const ParamUse use = uses_.of(call->src[0], i);
      if (!use.reads && !use.writes) continue;
      if (!known.has(arguments[i])) {
        known.set(arguments[i], static_cast<int32_t>(parts.size()));
        parts.push_back(argument_bytes(g, arguments[i]));
      }
      for (const ArgumentBytes& p : parts[static_cast<size_t>(known.at(arguments[i]))]) {
        if (p.begin == p.end) continue;
        const int32_t on = number(p.storage);
        by_storage_[static_cast<size_t>(on)].push_back(static_cast<uint32_t>(accesses_.size()));
        accesses_.push_back({k, static_cast<int32_t>(i), on, p.begin, p.end, p.is_whole, use});
      }
    }
    begins_.push_back(static_cast<uint32_t>(accesses_.size()));
  }
}

std::span<const CallAccess> CallAccesses::of(int32_t call) const {
  const uint32_t begin = begins_[static_cast<size_t>(call)];
  return std::span(accesses_).subspan(begin, begins_[static_cast<size_t>(call) + 1] - begin);
}

int32_t CallAccesses::number(Ref storage) {
  if (const int32_t* known = numbers_.find(storage)) return *known;
  const auto next = static_cast<int32_t>(storages_.size());
  numbers_.set(storage, next);
  storages_.push_back(storage);
  by_storage_.emplace_back();
  return next;
}

}  // namespace assay::props
