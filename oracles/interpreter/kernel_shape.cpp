#include "oracles/interpreter/kernel_shape.h"

#include <algorithm>

#include "engine/uop/walk.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

constexpr size_t kMostRanges = 64;
constexpr uop::OpSet kKnown = {
    Op::Const, Op::Invalid, Op::Variable, Op::Bind,  Op::Param, Op::Device, Op::Index,  Op::Load,
    Op::Store, Op::After,   Op::End,      Op::Group, Op::Noop,  Op::Sink,   Op::Reduce, Op::Range};

Error unsupported(Ref u) {
  return {fmt::format("{} is not for the interpreter yet", uop::to_text(u->op))};
}

// The ranges that a node's sources after the first name.
Result<uint64_t> closed(const KernelShape& shape, Ref u) {
  uint64_t set = 0;
  for (const Ref r : u->src.subspan(1)) {
    if (r->op != Op::Range)
      return Error{
          fmt::format("{} over {}, not a range", uop::to_text(u->op), uop::to_text(r->op))};
    set |= shape.free[static_cast<size_t>(shape.place(r))];
  }
  return set;
}

Result<bool> find_ranges(KernelShape& shape) {
  shape.free.reserve(shape.nodes.size());
  for (const Ref u : shape.nodes) {
    shape.places.set(u, static_cast<int>(shape.free.size()));
    uint64_t set = 0;
    for (const Ref s : u->src) set |= shape.free[static_cast<size_t>(shape.place(s))];
    if (u->op == Op::Range) {
      if (set != 0) return Error{"a range whose size depends on a range"};
      if (shape.ranges.size() == kMostRanges)
        return Error{fmt::format("more than {} ranges", kMostRanges)};
      set = uint64_t{1} << shape.ranges.size();
      shape.ranges.push_back(u);
    } else if (u->op == Op::Reduce || u->op == Op::End) {
      ASSAY_TRY(ends, closed(shape, u));
      set &= ~ends;
    } else if (!kKnown.has(u->op) && !uop::is_scalar(u->op)) {
      return unsupported(u);
    }
    shape.free.push_back(set);
  }
  return true;
}

// Finds the stores and the ENDs about each, users before sources.
void find_stores(KernelShape& shape) {
  const size_t n = shape.nodes.size();
  std::vector<int> ends(n, -1);  // by place: that of the innermost END about a node
  for (size_t i = n; i-- > 0;) {
    const Ref u = shape.nodes[i];
    // What an AFTER waits for may stand below ENDs of its own.
    const auto pass_on = [&](Ref s, int end) {
      if (end >= 0 && s->dtype == uop::Void) ends[static_cast<size_t>(shape.place(s))] = end;
    };
    if (u->op == Op::End) {
      pass_on(u->src[0], static_cast<int>(i));
      continue;
    }
    for (const Ref s : u->src) pass_on(s, ends[i]);
    if (u->op != Op::Store) continue;
    KernelShape::Stored stored = {u, {}};
    for (int end = ends[i]; end >= 0; end = ends[static_cast<size_t>(end)]) {
      const auto ranges = shape.nodes[static_cast<size_t>(end)]->src.subspan(1);
      stored.ranges.insert(stored.ranges.begin(), ranges.begin(), ranges.end());
    }
    shape.stores.push_back(std::move(stored));
  }
  std::reverse(shape.stores.begin(), shape.stores.end());
}

}  // namespace

Ref parameter_of(Ref address) {
  if (address->op != Op::Index || address->src.size() != 2) return nullptr;
  Ref base = address->src[0];
  while (base->op == Op::After) base = base->src[0];
  return base->op == Op::Param ? base : nullptr;
}

Result<bool> take_apart(uop::Graph& g, Ref kernel, KernelShape& shape) {
  shape.nodes = uop::toposort(g, kernel);
  shape.places.clear();
  shape.ranges.clear();
  shape.free.clear();
  shape.stores.clear();
  if (const auto ranged = find_ranges(shape); !ranged.ok()) return ranged.error();
  find_stores(shape);
  return true;
}

}  // namespace assay::interpreter
