#include <algorithm>

#include "engine/uop/bounds.h"
#include "engine/uop/dim.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"
#include "fuzz/fault/fault.h"

namespace assay::fuzz {
namespace {

using uop::AxisType;

bool is_gate(Ref u) { return u->op == Op::Where && u->src[2]->op == Op::Invalid; }

// A loop of one iteration less, where there is more than one.
Ref shorter(Graph& g, Ref u, bool (*is)(AxisType type)) {
  if (u->op != Op::Range || !is(u->arg.axis_type())) return u;
  const Ref n = u->src[0];
  return is_int_const(n) && int_of(n) > 1 ? with_source(g, u, 0, nudged_constant(g, n, -1)) : u;
}
bool is_fold(AxisType t) { return t == AxisType::Reduce; }
bool is_loop(AxisType t) { return t != AxisType::Reduce; }

// Two loops of one length that an input is read along, exchanged.
Ref transposed(Graph& g, Ref u) {
  if (!is_input(g, u)) return u;
  const auto ranges = uop::ranges(g, u->src[1]);
  for (size_t a = 0; a < ranges.size(); a++) {
    for (size_t b = a + 1; b < ranges.size(); b++) {
      if (ranges[a]->src[0] != ranges[b]->src[0]) continue;
      const Ref now = with_exchanged(g, u, 1, ranges[a], ranges[b]);
      if (now != u) return now;
    }
  }
  return u;
}

// The first axis that `u`, of two sizes an axis after its first source, moves by one: the first of
// the two grows by `first`, the second by `second`.
Ref shifted(Graph& g, Ref u, int64_t first, int64_t second) {
  for (size_t k = 1; k + 1 < u->src.size(); k += 2) {
    const Ref a = u->src[k];
    if (!is_int_const(a) || int_of(a) + first < 0) continue;
    if (second == 0) return with_source(g, u, k, nudged_constant(g, a, first));
    if (!is_int_const(u->src[k + 1]) || int_of(u->src[k + 1]) + second < 0) continue;
    const Ref moved = with_source(g, u, k, nudged_constant(g, a, first));
    return with_source(g, moved, k + 1, nudged_constant(g, u->src[k + 1], second));
  }
  return u;
}

// A fold without those of its loops that its value does not stand in.
Ref without_unused(Graph& g, Ref u, Op op) {
  if (u->op != Op::Reduce || u->arg.fold_op() != op) return u;
  std::vector<Ref> sources = {u->src[0]};
  for (const Ref r : u->src.subspan(1)) {
    if (uop::depends_on(g, u->src[0], r)) sources.push_back(r);
  }
  return sources.size() == u->src.size() ? u
         : sources.size() == 1           ? sources[0]
                                         : g.with_sources(u, sources);
}

bool is_read(Ref u) { return u->op == Op::Index; }

}  // namespace

std::vector<Fault> range_faults() {
  constexpr FaultClass kOf = FaultClass::Ranges;
  return {
      {"ranges.loop_one_short", kOf, "A loop ends one iteration early.", "split_store",
       Nodes{Which::First, [](Graph& g, Ref u) { return shorter(g, u, is_loop); }}},
      {"ranges.fold_one_short", kOf, "A fold leaves its last element out.", "split_store",
       Nodes{Which::First, [](Graph& g, Ref u) { return shorter(g, u, is_fold); }}},
      {"ranges.joined_one_short", kOf, "Loops that are joined lose an iteration.",
       "simplify_ranges",
       Nodes{Which::Last, [](Graph& g, Ref u) { return shorter(g, u, is_loop); }}, "B050"},
      {"ranges.gate_dropped", kOf, "What a pad added is read as if it were there.", "run_rangeify",
       Nodes{Which::Last, [](Graph&, Ref u) { return is_gate(u) ? u->src[1] : u; }}, "B165"},
      {"ranges.pad_value_lost", kOf, "A padded value is not picked by its gate.", "run_rangeify",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               const bool is_padded = u->op == Op::Where && u->src[2]->op == Op::Const &&
                                      found(g, u->src[1], is_read) != nullptr;
               return is_padded ? u->src[1] : u;
             }},
       "B055"},
      {"ranges.transposed", kOf, "An input is read along two loops the other way round.",
       "split_store", Nodes{Which::First, transposed}, "B066"},
      {"ranges.flip_lost", kOf, "A flip on one of several axes is left out.", "prepare_rangeify",
       Nodes{Which::First, [](Graph&, Ref u) { return u->op == Op::Flip ? u->src[0] : u; }},
       "B063"},
      {"ranges.permute_lost", kOf, "A permutation of axes of one size is left out.",
       "prepare_rangeify",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               if (u->op != Op::Permute) return u;
               const bool is_same = std::ranges::equal(uop::shape(g, u), uop::shape(g, u->src[0]));
               return is_same ? u->src[0] : u;
             }},
       "B163"},
      {"ranges.pad_moved", kOf, "A pad has one element less below and one more above.",
       "prepare_rangeify",
       Nodes{Which::First,
             [](Graph& g, Ref u) { return u->op == Op::Pad ? shifted(g, u, -1, 1) : u; }},
       "B090"},
      {"ranges.slice_moved", kOf, "A slice begins one element early.", "prepare_rangeify",
       Nodes{Which::First,
             [](Graph& g, Ref u) { return u->op == Op::Shrink ? shifted(g, u, -1, 0) : u; }},
       "B062"},
      {"ranges.sum_of_unused_loop", kOf,
       "A sum over a loop that its value does not use is not multiplied.", "split_store",
       Nodes{Which::First, [](Graph& g, Ref u) { return without_unused(g, u, Op::Add); }}, "B059"},
      {"ranges.picked_without_gate", kOf,
       "A fold that picks one element reads it wherever it is said to be.", "load_collapse",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               if (!is_input(g, u) || !is_gate(u->src[1])) return u;
               if (found(g, u->src[1]->src[1], is_read) == nullptr) return u;
               return with_source(g, u, 1, u->src[1]->src[1]);
             }},
       "B155"},
      {"ranges.picked_one_on", kOf, "A fold that picks one element picks the next.",
       "load_collapse",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               if (u->op != Op::Where || u->src[2]->op != Op::Invalid) return u;
               if (found(g, u->src[1], is_read) == nullptr) return u;
               const Ref one = g.constant(u->dtype, 1);
               return with_source(g, u, 1, g.alu(Op::Add, {u->src[1], one}));
             }},
       "B051"},
      {"ranges.pad_of_one", kOf, "What is padded is padded with one.", "prepare_rangeify",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (u->op != Op::Pad || uop::is_float(u->dtype)) return u;
               const Ref one = g.constant(u->dtype, 1);
               return g.alu(Op::Max, {u, one});
             }},
       "B133"},
  };
}

}  // namespace assay::fuzz
