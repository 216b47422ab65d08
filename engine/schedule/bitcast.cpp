// BITCAST between types of different widths, as values and as what is written through.
#include <algorithm>
#include <vector>

#include "engine/schedule/prepare_rules.h"
#include "engine/uop/dim.h"
#include "engine/uop/dtype.h"
#include "engine/uop/shape.h"

namespace assay::schedule {
namespace {

using uop::Arg;
using uop::DType;
using uop::Graph;
using uop::is_movement;
using uop::Op;
using uop::Shape;

Ref bitcast(Graph& g, Ref u, DType t) { return u->dtype == t ? u : g.make(Op::Bitcast, t, {u}); }
Ref cast(Graph& g, Ref u, DType t) { return u->dtype == t ? u : g.make(Op::Cast, t, {u}); }

// The parts of each element, low bits first, as a last axis joined to the one before it.
Ref taken_apart(Graph& g, Ref x, DType part, Shape to) {
  const DType whole = x->dtype;
  const int64_t rate = uop::bits_of(whole) / uop::bits_of(part);
  std::vector<Ref> sizes(uop::shape(g, x).begin(), uop::shape(g, x).end());
  sizes.push_back(uop::dim(g, 1));
  const Ref single = uop::reshape(g, x, sizes);
  const Ref r =
      g.make(Op::Range, DType::Index, {uop::dim(g, rate)}, Arg::axis(0, uop::AxisType::Weak));
  const Ref bits = uop::dim(g, uop::bits_of(part));
  const Ref shift = cast(g, g.alu(Op::Mul, {r, bits}), whole);
  const Ref shifts = g.make(Op::Stage, whole, {shift, r}, Arg::place(0, uop::AddrSpace::Global));
  const Ref shifted = g.alu(Op::Shr, {single, shifts});
  return cast(g, uop::reshape(g, shifted, to), part);
}

// Elements along the last axis, low bits first, put together to wider ones.
Ref put_together(Graph& g, Ref x, DType whole, Shape to) {
  const int64_t rate = uop::bits_of(whole) / uop::bits_of(x->dtype);
  std::vector<Ref> sizes(to.begin(), to.end());
  sizes.push_back(uop::dim(g, rate));
  const Ref split = uop::reshape(g, x, sizes);
  Ref all = nullptr;
  for (int64_t i = 0; i < rate; ++i) {
    std::vector<Ref> amounts;
    for (const Ref size : to) {
      amounts.push_back(uop::dim(g, 0));
      amounts.push_back(size);
    }
    amounts.push_back(uop::dim(g, i));
    amounts.push_back(uop::dim(g, 1));
    const Ref one = uop::reshape(g, uop::shrink(g, split, amounts), to);
    const Ref wide = cast(g, one, whole);
    const Ref distance = g.constant(whole, i * uop::bits_of(x->dtype));
    const Ref part = i == 0 ? wide : g.alu(Op::Shl, {wide, distance});
    all = all == nullptr ? part : g.alu(Op::Or, {all, part});
  }
  return all;
}

// What has to move so that the movement `m` shows it: the inverse, as far as it has one.
Ref moved_back(Graph& g, Ref m, Ref u) {
  const Shape from = uop::shape(g, m->src[0]);
  const auto amounts = m->src.subspan(1);
  std::vector<Ref> back;
  switch (m->op) {
    case Op::Reshape: return uop::reshape(g, u, from);
    case Op::Flip: return uop::flip(g, u, m->arg.numbers());
    case Op::Permute: {
      std::vector<int64_t> order(from.size());
      for (size_t i = 0; i < from.size(); ++i) {
        order[static_cast<size_t>(m->arg.numbers()[i])] = static_cast<int64_t>(i);
      }
      return uop::permute(g, u, order);
    }
    case Op::Shrink:
      for (size_t i = 0; i < from.size(); ++i) {
        const Ref end = uop::dim_add(g, amounts[2 * i], amounts[2 * i + 1]);
        back.push_back(amounts[2 * i]);
        back.push_back(uop::dim_sub(g, from[i], end));
      }
      return uop::pad(g, u, back);
    case Op::Pad:
      for (size_t i = 0; i < from.size(); ++i) {
        back.push_back(amounts[2 * i]);
        back.push_back(from[i]);
      }
      return uop::shrink(g, u, back);
    default: return nullptr;
  }
}

Ref store(Graph& g, Ref target, Ref value) {
  return g.make(Op::Store, DType::Void, {target, value});
}

// The whole at the type that is written, with `value` where the movements show it.
Ref merged(Graph& g, Ref whole, const std::vector<Ref>& movements, Ref value) {
  Ref written = g.constant(uop::of_bool(true));
  if (!uop::shape(g, value).empty()) written = uop::expand(g, written, uop::shape(g, value));
  for (const Ref m : movements) {
    value = moved_back(g, m, value);
    written = moved_back(g, m, written);
    if (value == nullptr) return nullptr;
  }
  return g.make(Op::Where, whole->dtype, {written, value, whole});
}

}  // namespace

Ref bitcast_by_shifts(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref x = u->src[0];
  const int from = uop::bits_of(x->dtype);
  const int to = uop::bits_of(u->dtype);
  if (from == to || from % 8 != 0 || to % 8 != 0) return nullptr;
  const Ref bits = bitcast(g, x, uop::unsigned_of(x->dtype));
  const DType part = uop::unsigned_of(u->dtype);
  const Shape shape = uop::shape(g, u);
  const Ref result =
      from > to ? taken_apart(g, bits, part, shape) : put_together(g, bits, part, shape);
  return bitcast(g, result, u->dtype);
}

Ref store_through_bitcast(Run& run, Ref u) {
  Graph& g = run.graph();
  std::vector<Ref> movements;
  Ref view = u->src[0];
  for (; is_movement(view->op); view = view->src[0]) movements.push_back(view);
  if (view->op != Op::Bitcast) return nullptr;
  const Ref inner = view->src[0];
  const DType t = inner->dtype;
  if (t == DType::Bool || view->dtype == DType::Bool) return nullptr;
  if (uop::bits_of(t) == uop::bits_of(view->dtype)) {
    Ref target = inner;
    for (size_t i = movements.size(); i-- > 0;) {
      std::vector<Ref> sources(movements[i]->src.begin(), movements[i]->src.end());
      sources[0] = target;
      target = g.make(movements[i]->op, t, sources, movements[i]->arg);
    }
    return store(g, target, bitcast(g, u->src[1], t));
  }
  const Ref whole = movements.empty() ? u->src[1] : merged(g, view, movements, u->src[1]);
  return whole == nullptr ? nullptr : store(g, inner, bitcast(g, whole, t));
}

}  // namespace assay::schedule
