#include "engine/schedule/prepare.h"

#include <algorithm>
#include <vector>

#include "engine/schedule/function.h"
#include "engine/schedule/prepare_rules.h"
#include "engine/uop/dim.h"
#include "engine/uop/eval.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"
#include "engine/uop/value.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::by;
using uop::DType;
using uop::Graph;
using uop::is_const;
using uop::is_dim;
using uop::is_movement;
using uop::kScalars;
using uop::Op;
using uop::OpSet;
using uop::Shape;

constexpr OpSet value_ops() {
  OpSet ops = {Op::Reshape, Op::Expand, Op::Permute,    Op::Flip, Op::Pad,  Op::Shrink,
               Op::Stack,   Op::Reduce, Op::Contiguous, Op::Copy, Op::Stage};
  for (int i = 0; i < uop::kOpCount; ++i) {
    if (uop::is_scalar(static_cast<Op>(i))) ops.insert(static_cast<Op>(i));
  }
  return ops;
}

bool is_empty(Graph& g, Ref u) {
  for (const Ref size : uop::shape(g, u)) {
    if (is_dim(size, 0)) return true;
  }
  return false;
}

Ref filled(Graph& g, uop::Value value, Shape shape) {
  const Ref c = g.constant(value);
  return shape.empty() ? c : uop::expand(g, c, shape);
}

Ref empty_value(Run& run, Ref u) {
  Graph& g = run.graph();
  if (!is_empty(g, u) || (u->op == Op::Expand && is_const(u->src[0]))) return nullptr;
  return filled(g, uop::zero_of(u->dtype), uop::shape(g, u));
}

Ref pad_of_nothing(Run& run, Ref u) {
  Graph& g = run.graph();
  return is_empty(g, u->src[0]) ? filled(g, uop::zero_of(u->dtype), uop::shape(g, u)) : nullptr;
}

Ref reduce_of_nothing(Run& run, Ref u) {
  Graph& g = run.graph();
  if (!is_empty(g, u->src[0])) return nullptr;
  return filled(g, uop::unit_of(u->arg.fold_op(), u->dtype), uop::shape(g, u));
}

Ref reshape_of_reshape(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref x = u->src[0]->op == Op::Reshape ? u->src[0]->src[0] : u->src[0];
  const Shape to = uop::shape(g, u);
  if (uop::shape(g, x).data() == to.data()) return x;
  return x == u->src[0] ? nullptr : uop::reshape(g, x, to);
}

Ref contiguous_of_stored(Run&, Ref u) { return u->src[0]; }

bool is_undefined(Ref u) {
  while ((is_movement(u->op) && u->op != Op::Pad) || u->op == Op::Contiguous || u->op == Op::Cast ||
         u->op == Op::Bitcast) {
    u = u->src[0];
  }
  return u->op == Op::Invalid;
}

// A store of what is there already, of nothing, or of what may be anything.
bool is_idle(Graph& g, Ref store) {
  const Ref target = store->src[0];
  const Ref value = store->src[1];
  return target == value || is_empty(g, target) || is_undefined(value);
}

Ref idle_store(Run& run, Ref u) {
  std::vector<Ref> sources = {u->src[0]};
  for (const Ref d : u->src.subspan(1)) {
    if (d->op != Op::Store || !is_idle(run.graph(), d)) sources.push_back(d);
  }
  if (sources.size() == u->src.size()) return nullptr;
  return sources.size() == 1 ? sources[0] : run.graph().with_sources(u, sources);
}

// AFTER(b, STORE(b, x)) with x stored to it once more.
Ref same_store_twice(Run&, Ref u) {
  const Ref before = u->src[0];
  if (before->op != Op::After || u->src.size() != 2 || before->src.size() != 2) return nullptr;
  const Ref first = before->src[1];
  const Ref second = u->src[1];
  const bool whole = first->op == Op::Store && second->op == Op::Store &&
                     first->src[0] == before->src[0] && second->src[0] == before;
  return whole && first->src[1] == second->src[1] ? before : nullptr;
}

}  // namespace

const uop::RuleSet& store_rules() {
  static const uop::RuleSet rules(
      "store",
      {
          by("through_bitcast", uop::TypeSet{DType::Void}, {Op::Store}, store_through_bitcast,
             "a write through a view of other bits stores those bits at the type of the storage; "
             "where that is of another width, the elements around them stay as they are",
             {Op::Bitcast, Op::Reshape, Op::Permute, Op::Flip, Op::Pad, Op::Shrink}),
      });
  return rules;
}

const uop::RuleSet& prepare_rules() {
  static const uop::RuleSet rules(
      "prepare",
      {
          by("empty_value", kScalars, value_ops(), empty_value, "no elements are no work"),
          by("pad_of_nothing", kScalars, {Op::Pad}, pad_of_nothing, "a pad of nothing is zeros"),
          by("reduce_of_nothing", kScalars, {Op::Reduce}, reduce_of_nothing,
             "a reduce of nothing is its unit"),
          by("split_reduce", kScalars, {Op::Reduce}, split_reduce,
             "a reduce of at least 32768 elements to one is two, the first of which has up to 256 "
             "times as many results: along the first axis of the reduce that the value is not "
             "repeated along and that a number of parts from 8 on divides, the largest such"),
          by("bitcast_by_shifts", uop::kFixedInts | uop::kFloats, {Op::Bitcast}, bitcast_by_shifts,
             "bits read at another width are shifted together or apart, low bytes first"),
          by("reshape_of_reshape", kScalars, {Op::Reshape}, reshape_of_reshape,
             "a reshape of a reshape is the outer one, and one to the same shape its source"),
          by("contiguous_of_stored", kScalars, {Op::Contiguous}, contiguous_of_stored,
             "what is stored anyway need not be asked to", {Op::Contiguous, Op::Copy}),
          by("copy_in_place", kScalars, {Op::Copy}, copy_in_place,
             "a copy to where the value is, or of a value that is nowhere, is the value"),
          by("copy_of_list", kScalars, {Op::Copy}, copy_of_list,
             "a copy moves a list of elements, in row-major order"),
          by("copy_of_run", kScalars, {Op::Copy}, copy_of_run,
             "a copy moves elements that stand side by side in storage: all else is stored first"),
          by("store_of_copy", uop::TypeSet{DType::Void}, {Op::Store}, store_of_copy,
             "a copy is stored as the list that it is", {Op::Reshape}),
          by("idle_store", kScalars, {Op::After}, idle_store,
             "a store of what is there, of nothing, or of what may be anything does nothing",
             {Op::Store}),
          by("same_store_twice", kScalars, {Op::After}, same_store_twice,
             "a value that was just stored to the whole is not stored again", {Op::After}),
      });
  return rules;
}

namespace {

// Most graphs have no other bits to write through.
Result<Ref> prepare_stores(Run& run, Ref sink) {
  const std::vector<Ref> order = uop::toposort(run.graph(), sink);
  const auto is_bitcast = [](Ref u) { return u->op == Op::Bitcast; };
  if (std::ranges::none_of(order, is_bitcast)) return sink;
  const uop::RuleSet* const sets[] = {&store_rules()};
  return run.rewrite(sets, sink);
}

}  // namespace

std::span<const uop::Pass* const> prepare_passes() {
  static const uop::Pass stores = {.name = "prepare_stores",
                                   .accepts = uop::graph_spec(),
                                   .yields = uop::graph_spec(),
                                   .rules = {},
                                   .options = {},
                                   .function = prepare_stores};
  static const uop::Pass prepare = {.name = "prepare_rangeify",
                                    .accepts = uop::graph_spec(),
                                    .yields = uop::graph_spec(),
                                    .rules = {&prepare_rules()}};
  static const std::vector<const uop::Pass*> passes = {&stores, &prepare};
  return passes;
}

Result<Ref> prepare_rangeify(Run& run, Ref sink) {
  ASSAY_TRY(inlined, resolve_functions(run.graph(), sink));
  return run_passes(prepare_passes(), run, inlined);
}

}  // namespace assay::schedule
