#include <algorithm>

#include "engine/uop/walk.h"
#include "fuzz/fault/fault.h"

namespace assay::fuzz {
namespace {

bool is_gated(Ref u) { return (u->op == Op::Load || u->op == Op::Store) && u->src.size() == 3; }

bool is_vector_load(Ref u) { return u->op == Op::Load && u->src[0]->op == Op::Shrink; }

// The gate's first bound reaches one further.
Ref with_wider_gate(Graph& g, Ref u) {
  if (!is_gated(u)) return u;
  for (const Ref bound : uop::toposort(g, u->src[2])) {
    if (bound->op != Op::Lt) continue;
    Ref wider = with_nudged_operand(g, bound, 1);
    if (wider == bound && is_int_const(bound->src[0])) {
      wider = with_source(g, bound, 0, nudged_constant(g, bound->src[0], -1));
    }
    if (wider != bound)
      return with_source(g, u, 2, uop::substitute(g, u->src[2], {{bound, wider}}));
  }
  return u;
}

// STORE(SHRINK(…), STACK(x…)) of other lanes.
Ref with_lanes(Graph& g, Ref u, void (*edit)(std::vector<Ref>& lanes)) {
  const bool is_vector =
      u->op == Op::Store && u->src[0]->op == Op::Shrink && u->src[1]->op == Op::Stack;
  if (!is_vector) return u;
  std::vector<Ref> lanes(u->src[1]->src.begin(), u->src[1]->src.end());
  edit(lanes);
  return with_source(g, u, 1, g.with_sources(u->src[1], lanes));
}

// Without the last branch: what stood in it runs always.
Ref without_branch(Graph& g, Ref linear) {
  Ref branch = nullptr;
  for (const Ref u : linear->src) {
    if (u->op == Op::If) branch = u;
  }
  if (branch == nullptr) return linear;
  std::vector<Ref> lines;
  for (const Ref u : linear->src) {
    const bool is_of_it = u == branch || (u->op == Op::EndIf && u->src[0] == branch);
    if (!is_of_it) lines.push_back(u);
  }
  return with_lines(g, linear, lines);
}

// The last branch ends before its last store.
Ref branch_ends_early(Graph& g, Ref linear) {
  std::vector<Ref> lines(linear->src.begin(), linear->src.end());
  const auto at =
      std::find_if(lines.rbegin(), lines.rend(), [](Ref u) { return u->op == Op::EndIf; });
  if (at == lines.rend() || std::next(at) == lines.rend()) return linear;
  std::iter_swap(at, std::next(at));
  return with_lines(g, linear, lines);
}

}  // namespace

std::vector<Fault> vector_faults() {
  constexpr FaultClass kOf = FaultClass::Vector;
  return {
      {"vector.load_gate_dropped", kOf, "A load is done whatever its gate says.", "move_gates",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               const bool is_load = is_gated(u) && u->op == Op::Load;
               return is_load ? g.make(Op::Load, u->dtype, {u->src[0]}) : u;
             }},
       "B142"},
      {"vector.load_gates_dropped", kOf, "Loads have no gates.", "move_gates",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               const bool is_load = is_gated(u) && u->op == Op::Load;
               return is_load ? g.make(Op::Load, u->dtype, {u->src[0]}) : u;
             }},
       "B155"},
      {"vector.store_gates_dropped", kOf, "Gates are of loads only.", "move_gates",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               return is_gated(u) && u->op == Op::Store ? without_source(g, u, 2) : u;
             }},
       "B150"},
      {"vector.store_gate_dropped", kOf, "The gate of a store is forgotten.", "add_control_flow",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               return is_gated(u) && u->op == Op::Store ? without_source(g, u, 2) : u;
             }},
       "B149"},
      {"vector.alternative_of_one", kOf, "What a gate keeps from being read is one.", "move_gates",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               if (!is_gated(u) || u->op != Op::Load || u->src[1]->op != Op::Const) return u;
               return with_source(g, u, 1, g.constant(uop::one_of(u->src[1]->dtype)));
             }},
       "B134"},
      {"vector.gate_one_more", kOf, "A gate lets one more through.", "move_gates",
       Nodes{Which::Last, with_wider_gate}, "B083"},
      {"vector.gate_of_one_bound", kOf, "Of two bounds of a gate one is asked.", "move_gates",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (!is_gated(u) || u->src[2]->op != Op::And) return u;
               return with_source(g, u, 2, u->src[2]->src[1]);
             }},
       "B154"},
      {"vector.lanes_reversed", kOf, "The lanes of a store are the other way round.", "coalesce",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               return with_lanes(g, u,
                                 [](std::vector<Ref>& lanes) { std::ranges::reverse(lanes); });
             }},
       "B151"},
      {"vector.last_lane_repeats", kOf, "The last lane of a store is the one before.", "coalesce",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               return with_lanes(g, u, [](std::vector<Ref>& lanes) {
                 if (lanes.size() > 1) lanes.back() = lanes[lanes.size() - 2];
               });
             }}},
      {"vector.second_lane_is_first", kOf, "The second lane of what is loaded is the first.",
       "coalesce",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               const bool is_second = u->op == Op::Index && u->src.size() == 2 &&
                                      is_vector_load(u->src[0]) && is_int_const(u->src[1]) &&
                                      int_of(u->src[1]) == 1;
               return is_second ? with_source(g, u, 1, nudged_constant(g, u->src[1], -1)) : u;
             }}},
      {"vector.loaded_one_on", kOf, "A vector is loaded from one element on.", "coalesce",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (!is_vector_load(u) || u->src[0]->src[1]->op == Op::Where) return u;
               const Ref place = u->src[0];
               const Ref one = g.constant(place->src[1]->dtype, 1);
               const Ref next = g.alu(Op::Add, {place->src[1], one});
               return with_source(g, u, 0, with_source(g, place, 1, next));
             }},
       "B183"},
      {"vector.branch_lost", kOf, "A branch is not rendered, what stands in it is.", "linearize",
       Whole{without_branch}, "B150"},
      {"vector.branch_ends_early", kOf, "A branch ends before its last store.", "linearize",
       Whole{branch_ends_early}},
      {"vector.select_exchanged", kOf, "A select picks what it should not.", "devectorize",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (u->op != Op::Where || u->src[2]->op == Op::Invalid) return u;
               return g.make(Op::Where, u->dtype, {u->src[0], u->src[2], u->src[1]});
             }},
       "B123"},
      {"vector.select_of_gate_gone", kOf, "A select on the gate of what it picks is forgotten.",
       "coalesce",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               const bool is_picked =
                   u->op == Op::Where && u->src[2]->op != Op::Invalid &&
                   found(g, u->src[1], [](Ref s) { return s->op == Op::Load; }) != nullptr;
               return is_picked ? u->src[1] : u;
             }},
       "B055"},
  };
}

}  // namespace assay::fuzz
