#include "engine/uop/bounds.h"
#include "engine/uop/dim.h"
#include "engine/uop/walk.h"
#include "fuzz/fault/fault.h"

namespace assay::fuzz {
namespace {

using uop::OpSet;
using uop::Pat;
using uop::Run;

bool is_index(Ref u) { return u->dtype == DType::Index; }

Ref nudged_if(Graph& g, Ref u, Op op, int64_t by) {
  return u->op == op && is_index(u->src[0]) ? with_nudged_operand(g, u, by) : u;
}

// What an input is read at, with one position of the launch in the place of another.
Ref with_special(Graph& g, Ref u, std::string_view from, std::string_view to) {
  if (!is_input(g, u)) return u;
  Ref a = nullptr;
  Ref b = nullptr;
  for (const Ref s : uop::toposort(g, u->src[1])) {
    if (is_special(s, from)) a = s;
    if (is_special(s, to)) b = s;
  }
  if (a == nullptr || (b == nullptr && !to.empty())) return u;
  if (to.empty()) return with_source(g, u, 1, uop::substitute(g, u->src[1], {{a, uop::dim(g, 0)}}));
  return with_exchanged(g, u, 1, a, b);
}

Ref least_value(Run& run, Ref u) {
  const uop::Bounds b = uop::bounds(run.graph(), u);
  return b.lo > -100 && b.hi < b.lo + 2 ? run.graph().constant(uop::of_int(u->dtype, b.lo))
                                        : nullptr;
}

Ref gate_dropped(Run& run, Ref u) {
  for (size_t k = 0; k < u->src.size(); k++) {
    const Ref s = u->src[k];
    if (s->op == Op::Where && s->src[2]->op == Op::Invalid) {
      return with_source(run.graph(), u, k, s->src[1]);
    }
  }
  return nullptr;
}

void add_wrong_rules(std::vector<Fault>& faults) {
  using uop::kIndex;
  using uop::kInts;
  constexpr FaultClass kOf = FaultClass::Index;
  const Pat x = uop::any("x");
  const Pat y = uop::any("y");
  const Pat c = uop::constant("c");
  const Pat d = uop::constant("d");
  const OpSet strict = {Op::Add, Op::Mul, Op::Div, Op::Mod, Op::Max};
  const auto add = [&](std::string name, std::string does, std::string_view set, uop::Rule rule,
                       std::string_view row) {
    std::string blame = std::string(set) + "." + std::string(rule.name);
    faults.push_back({std::move(name), kOf, std::move(does), std::move(blame),
                      WrongRule{set, std::move(rule)}, row});
  };
  add("index.remainder_of_anything", "x % c is x wherever x is not negative.", "div_mod",
      {"mod_below", kInts, x % c, x, 0 <= lo(x)}, "B078");
  add("index.remainder_up_to_divisor", "x % c is x up to c itself.", "div_mod",
      {"mod_below", kInts, x % c, x, 0 <= lo(x) && hi(x) <= c}, "B071");
  add("index.bound_moved_up", "x + c < d is x < d + c.", "compare",
      {"lt_moves_constant", kIndex, x + c < d, x < d + c}, "B073");
  add("index.one_of_two_values", "What has two values is the lesser.", "fold",
      uop::by("single_value", kInts, OpSet::all(), least_value, "the lesser of two values"),
      "B077");
  add("index.gate_lost_outwards", "A gate that is moved outwards is lost.", "invalid",
      uop::by("gate_outwards", uop::kScalars, strict, gate_dropped, "the gate is lost"), "B154");
  add("index.larger_by_bounds", "The larger of two is the one that is never the least.", "min_max",
      {"max_above", kInts, max(x, y), x, lo(y) <= lo(x)}, "B079");
}

}  // namespace

std::vector<Fault> index_faults() {
  constexpr FaultClass kOf = FaultClass::Index;
  std::vector<Fault> faults = {
      {"index.remainder_lost", kOf, "A remainder is taken for what it is of.", "simplify_kernel",
       Nodes{Which::Last,
             [](Graph&, Ref u) { return u->op == Op::Mod && is_index(u) ? u->src[0] : u; }},
       "B086"},
      {"index.quotient_of_next", kOf, "A quotient is by one more.", "simplify_kernel",
       Nodes{Which::Last, [](Graph& g, Ref u) { return nudged_if(g, u, Op::Div, 1); }}, "B075"},
      {"index.stride_one_more", kOf, "A stride is one more.", "split_ranges",
       Nodes{Which::Last, [](Graph& g, Ref u) { return nudged_if(g, u, Op::Mul, 1); }}, "B085"},
      {"index.offset_one_more", kOf, "An offset is one more.", "simplify_ranges",
       Nodes{Which::Last, [](Graph& g, Ref u) { return nudged_if(g, u, Op::Add, 1); }}, "B087"},
      {"index.bound_inclusive", kOf, "A bound that an index stays below may be reached.",
       "simplify_ranges",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (u->op != Op::Lt || !is_index(u->src[0])) return u;
               if (is_int_const(u->src[1])) return with_nudged_operand(g, u, 1);
               const Ref c = u->src[0];
               return is_int_const(c) ? with_source(g, u, 0, nudged_constant(g, c, -1)) : u;
             }},
       "B083"},
      {"index.group_axes_exchanged", kOf, "An input is read at the group of another axis.",
       "add_gpu_dims",
       Nodes{Which::First, [](Graph& g, Ref u) { return with_special(g, u, "gidx0", "gidx1"); }},
       "B085"},
      {"index.item_axes_exchanged", kOf, "An input is read at the work-item of another axis.",
       "add_gpu_dims",
       Nodes{Which::First, [](Graph& g, Ref u) { return with_special(g, u, "lidx0", "lidx1"); }}},
      {"index.group_for_item", kOf, "An input is read at the group in the place of the work-item.",
       "add_gpu_dims",
       Nodes{Which::First, [](Graph& g, Ref u) { return with_special(g, u, "gidx0", "lidx0"); }}},
      {"index.item_forgotten", kOf, "All work-items read what the first one reads.", "add_gpu_dims",
       Nodes{Which::First, [](Graph& g, Ref u) { return with_special(g, u, "lidx0", ""); }}},
      {"index.of_eight_bits", kOf, "An index is kept in eight bits.", "index_width",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (!is_input(g, u) || u->src[1]->op == Op::Where) return u;
               if (uop::bounds(g, u->src[1]).hi < 128) return u;
               const Ref narrow = g.make(Op::Cast, DType::I8, {u->src[1]});
               return with_source(g, u, 1, g.make(Op::Cast, u->src[1]->dtype, {narrow}));
             }},
       "B093"},
      {"index.lane_stride_lost", kOf, "What is read at a multiple is read side by side.",
       "expander",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (!is_input(g, u) || u->src[1]->op != Op::Add) return u;
               const Ref m = u->src[1]->src[0];
               if (m->op != Op::Mul || !is_int_const(m->src[1])) return u;
               return with_source(g, u, 1, with_source(g, u->src[1], 0, m->src[0]));
             }},
       "B086"},
  };
  add_wrong_rules(faults);
  return faults;
}

}  // namespace assay::fuzz
