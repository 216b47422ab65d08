// What a COPY moves: a run of elements of storage.
#include <vector>

#include "engine/schedule/access.h"
#include "engine/schedule/prepare_rules.h"
#include "engine/uop/dim.h"
#include "engine/uop/scope.h"

namespace assay::schedule {
namespace {

using uop::Arg;
using uop::DType;
using uop::is_const;
using uop::is_movement;
using uop::Op;

bool is_stored(Op op) {
  return op == Op::Buffer || op == Op::Param || op == Op::After || op == Op::Contiguous ||
         op == Op::Copy;
}

// Whether the elements of the list x stand side by side in storage.
bool is_run(Run& run, Ref x) {
  Graph& g = run.graph();
  const Ref size = uop::shape(g, x)[0];
  const bool one = uop::is_dim(size, 1);
  const Ref r = one ? uop::dim(g, 0)
                    : g.make(Op::Range, DType::Index, {size}, Arg::axis(0, uop::AxisType::Weak));
  Indexer indexer(run);
  Access at = {uop::intern_shape(g, {&r, 1}), nullptr};
  for (; is_movement(x->op); x = x->src[0]) {
    Ref inside = nullptr;
    if (x->op == Op::Expand) return false;
    at = indexer.through(x, at, &inside);
    if (inside != nullptr) return false;
  }
  if (!is_stored(x->op)) return false;
  const Ref place = indexer.flat(uop::shape(g, x), at.index);
  if (place == r || is_const(place)) return true;
  return place->op == Op::Add && place->src[0] == r && is_const(place->src[1]);
}

}  // namespace

Ref copy_in_place(Run& run, Ref u) {
  const Ref from = uop::device(run.graph(), u->src[0]);
  return from == nullptr || from == u->src[1] ? u->src[0] : nullptr;
}

Ref copy_of_list(Run& run, Ref u) {
  Graph& g = run.graph();
  const Shape shape = uop::shape(g, u);
  if (shape.size() == 1) return nullptr;
  const Ref count = uop::size_of(g, shape);
  const Ref list = uop::reshape(g, u->src[0], {&count, 1});
  const Ref moved = g.make(Op::Copy, u->dtype, {list, u->src[1]});
  return uop::reshape(g, moved, shape);
}

Ref copy_of_run(Run& run, Ref u) {
  Graph& g = run.graph();
  if (uop::shape(g, u).size() != 1 || is_run(run, u->src[0])) return nullptr;
  const Ref stored = g.make(Op::Contiguous, u->dtype, {u->src[0]});
  return g.make(Op::Copy, u->dtype, {stored, u->src[1]});
}

Ref store_of_copy(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref value = u->src[1];
  if (value->op != Op::Reshape || value->src[0]->op != Op::Copy) return nullptr;
  const Ref copy = value->src[0];
  const Ref target = uop::reshape(g, u->src[0], uop::shape(g, copy));
  return g.make(Op::Store, DType::Void, {target, copy});
}

}  // namespace assay::schedule
