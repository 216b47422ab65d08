#include <algorithm>

#include "engine/uop/walk.h"
#include "fuzz/fault/fault.h"

namespace assay::fuzz {
namespace {

using uop::AddrSpace;
using uop::Arg;

bool is_register(Graph& g, Ref u) { return is_in(g, u, AddrSpace::Reg); }

// STORE(accumulator, constant): what a fold begins with.
bool is_begin(Graph& g, Ref u) {
  return u->op == Op::Store && u->src[1]->op == Op::Const && is_register(g, u->src[0]);
}

Ref begun_with(Graph& g, Ref u, uop::Value value) {
  return with_source(g, u, 1, g.constant(value));
}

// STORE(accumulator, f(accumulator, x)).
bool is_step(Graph& g, Ref u) {
  return u->op == Op::Store && u->src[1]->src.size() == 2 && u->src[1]->src[0] == u->src[0] &&
         is_register(g, u->src[0]);
}

Ref with_fold(Graph& g, Ref u, Op from, Op to) {
  if (u->op != Op::Reduce || u->arg.fold_op() != from) return u;
  return g.make(Op::Reduce, u->dtype, u->src, Arg::fold(to, static_cast<int32_t>(u->arg.number())));
}

Ref accumulators_merged(Graph& g, Ref root) {
  std::vector<Ref> all;
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op == Op::Buffer && u->arg.addr_space() == AddrSpace::Reg) all.push_back(u);
  }
  for (size_t a = 0; a < all.size(); a++) {
    for (size_t b = a + 1; b < all.size(); b++) {
      const bool is_alike =
          all[a]->dtype == all[b]->dtype && std::ranges::equal(all[a]->src, all[b]->src);
      if (is_alike) return uop::substitute(g, root, {{all[b], all[a]}});
    }
  }
  return root;
}

bool is_local_stage(Ref u) { return u->op == Op::Stage && u->arg.addr_space() == AddrSpace::Local; }

// INDEX(stage, range): the loop that adds up what work-items left there is one short.
Ref shared_one_short(Graph& g, Ref root) {
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op != Op::Index || !is_local_stage(u->src[0])) continue;
    for (const Ref r : u->src.subspan(1)) {
      if (r->op != Op::Range || !is_int_const(r->src[0]) || int_of(r->src[0]) < 2) continue;
      const Ref less = with_source(g, r, 0, nudged_constant(g, r->src[0], -1));
      return uop::substitute(g, root, {{r, less}});
    }
  }
  return root;
}

}  // namespace

std::vector<Fault> reduce_faults() {
  constexpr FaultClass kOf = FaultClass::Reduce;
  return {
      {"reduce.begins_with_zero", kOf, "Every fold begins with zero.", "pm_reduce_local",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               return is_begin(g, u) ? begun_with(g, u, uop::zero_of(u->src[1]->dtype)) : u;
             }},
       "B133"},
      {"reduce.begins_with_one", kOf, "Every fold begins with one.", "pm_reduce_local",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               return is_begin(g, u) ? begun_with(g, u, uop::one_of(u->src[1]->dtype)) : u;
             }}},
      {"reduce.product_begins_lowest", kOf, "What does not begin with zero begins with the lowest.",
       "pm_reduce_local",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               if (!is_begin(g, u) || u->src[1]->value() == uop::zero_of(u->src[1]->dtype))
                 return u;
               return begun_with(g, u, uop::lowest(u->src[1]->dtype));
             }},
       "B129"},
      {"reduce.begins_finite", kOf, "A maximum begins with the lowest finite number.",
       "pm_reduce_local",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               if (!is_begin(g, u) || !uop::is_float(u->src[1]->dtype)) return u;
               const uop::Value v = u->src[1]->value();
               const bool is_end = v == uop::lowest(v.dtype) || v == uop::highest(v.dtype);
               return is_end ? begun_with(g, u, {v.dtype, v.bits - 1}) : u;
             }},
       "B133"},
      {"reduce.not_begun", kOf, "An accumulator is not set before its loop.", "pm_reduce_local",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               const bool is_begun =
                   u->op == Op::After && u->src.size() > 2 && is_begin(g, u->src[1]);
               return is_begun ? without_source(g, u, 1) : u;
             }}},
      {"reduce.keeps_last", kOf, "An accumulator takes the place of what it should add to.",
       "pm_reduce_local",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               return is_step(g, u) ? with_source(g, u, 1, u->src[1]->src[1]) : u;
             }}},
      {"reduce.read_before_end", kOf, "An accumulator is read before its loop has ended.",
       "pm_reduce_local",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               const bool is_result = u->op == Op::After && u->src.size() == 2 &&
                                      u->src[1]->op == Op::End && is_register(g, u);
               return is_result ? u->src[0] : u;
             }}},
      {"reduce.shared_one_short", kOf, "What the last work-item of a group folded is left out.",
       "pm_reduce_local", Whole{shared_one_short}, "B138"},
      {"reduce.one_accumulator", kOf, "Two folds have one accumulator.", "pm_reduce_local",
       Whole{accumulators_merged}, "B047"},
      {"reduce.sum_of_maximum", kOf, "A maximum is folded as a sum.", "apply_opts",
       Nodes{Which::First, [](Graph& g, Ref u) { return with_fold(g, u, Op::Max, Op::Add); }},
       "B051"},
      {"reduce.maximum_of_sum", kOf, "A sum is folded as a maximum.", "expander",
       Nodes{Which::First, [](Graph& g, Ref u) { return with_fold(g, u, Op::Add, Op::Max); }}},
      {"reduce.minimum_of_maximum", kOf, "A maximum is folded as a minimum.", "expander",
       Nodes{Which::First, [](Graph& g, Ref u) { return with_fold(g, u, Op::Max, Op::Min); }},
       "B113"},
      {"reduce.narrow_accumulator", kOf, "An accumulator has the eight bits of what is folded.",
       "pm_reduce_local",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               const Ref x = is_step(g, u) ? u->src[1] : u;
               if (x == u || !uop::kInts.has(x->dtype) || uop::bits_of(x->dtype) < 32) return u;
               const Ref narrow = g.make(Op::Cast, DType::I8, {x});
               return with_source(g, u, 1, g.make(Op::Cast, x->dtype, {narrow}));
             }},
       "B107"},
      {"reduce.half_accumulator", kOf, "An accumulator of floats has the bits of a half.",
       "pm_reduce_local",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               const Ref x = is_step(g, u) ? u->src[1] : u;
               if (x == u || x->dtype != DType::F32) return u;
               const Ref narrow = g.make(Op::Cast, DType::F16, {x});
               return with_source(g, u, 1, g.make(Op::Cast, DType::F32, {narrow}));
             }},
       "B106"},
      {"reduce.first_twice", kOf, "A fold takes the first of its elements for the second.",
       "apply_opts",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               if (u->op != Op::Reduce || u->src.size() < 2 || u->src[1]->op != Op::Range) return u;
               const Ref r = u->src[1];
               if (!is_int_const(r->src[0]) || int_of(r->src[0]) < 2) return u;
               const Ref one = g.constant(r->dtype, 1);
               const Ref zero = g.constant(r->dtype, 0);
               const Ref is_one = g.alu(Op::Eq, {r, one});
               const Ref other = g.alu(Op::Where, {is_one, zero, r});
               return with_source(g, u, 0, uop::substitute(g, u->src[0], {{r, other}}));
             }}},
  };
}

}  // namespace assay::fuzz
