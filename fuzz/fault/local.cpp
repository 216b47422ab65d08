#include <algorithm>

#include "engine/uop/dim.h"
#include "engine/uop/walk.h"
#include "fuzz/fault/fault.h"

namespace assay::fuzz {
namespace {

using uop::AddrSpace;
using uop::Arg;

bool is_local_buffer(Ref u) {
  return u->op == Op::Buffer && u->arg.addr_space() == AddrSpace::Local;
}
bool is_item(Ref u) { return u->op == Op::Special && u->arg.name().starts_with("lidx"); }

// What a barrier waited for, and no barrier.
Ref without_barrier(Graph& g, Ref u) {
  if (u->op != Op::Barrier || u->src.empty()) return u;
  return u->src.size() == 1 ? u->src[0] : g.make(Op::Group, DType::Void, u->src);
}

// STORE(INDEX(LOCAL, i), x) at another place.
Ref stored_at(Graph& g, Ref u, Ref (*place)(Graph& g, Ref i)) {
  if (u->op != Op::Store || u->src[0]->op != Op::Index || u->src[0]->src.size() != 2) return u;
  if (!is_in(g, u->src[0], AddrSpace::Local)) return u;
  const Ref at = u->src[0];
  return with_source(g, u, 0, with_source(g, at, 1, place(g, at->src[1])));
}

// The smaller of two buffers that work-items share is part of the larger.
Ref slots_merged(Graph& g, Ref root) {
  std::vector<Ref> all;
  for (const Ref u : uop::toposort(g, root)) {
    if (is_local_buffer(u) && u->src.size() == 1 && is_int_const(u->src[0])) all.push_back(u);
  }
  for (size_t a = 0; a < all.size(); a++) {
    for (size_t b = a + 1; b < all.size(); b++) {
      if (all[a]->dtype != all[b]->dtype) continue;
      const bool is_larger = int_of(all[a]->src[0]) >= int_of(all[b]->src[0]);
      const Ref kept = is_larger ? all[a] : all[b];
      return uop::substitute(g, root, {{is_larger ? all[b] : all[a], kept}});
    }
  }
  return root;
}

// The last BARRIER of a list stands in a branch that the first work-item takes.
Ref barrier_in_branch(Graph& g, Ref linear) {
  std::vector<Ref> lines(linear->src.begin(), linear->src.end());
  const auto at =
      std::find_if(lines.rbegin(), lines.rend(), [](Ref u) { return u->op == Op::Barrier; });
  const auto item = std::ranges::find_if(lines, is_item);
  if (at == lines.rend() || item == lines.end()) return linear;
  const Ref zero = g.constant((*item)->dtype, 0);
  const Ref gate = g.make(Op::Eq, DType::Bool, {*item, zero});
  const Ref open = g.make(Op::If, DType::Void, {gate});
  const Ref close = g.make(Op::EndIf, DType::Void, {open});
  std::vector<Ref> now;
  for (const Ref u : lines) {
    if (u == *at) {
      for (const Ref more : {zero, gate}) {
        if (std::ranges::find(now, more) == now.end()) now.push_back(more);
      }
      now.push_back(open);
    }
    const bool is_there = std::ranges::find(now, u) != now.end();
    if (!is_there) now.push_back(u);
    if (u == *at) now.push_back(close);
  }
  return with_lines(g, linear, now);
}

// The last BARRIER of a list stands before the store that it waits for.
Ref barrier_early(Graph& g, Ref linear) {
  Ref barrier = nullptr;
  for (const Ref u : linear->src) {
    if (u->op == Op::Barrier) barrier = u;
  }
  if (barrier == nullptr) return linear;
  const Ref bare = g.make(Op::Barrier, DType::Void, {});
  const Ref renamed = uop::substitute(g, linear, {{barrier, bare}});
  std::vector<Ref> lines(renamed->src.begin(), renamed->src.end());
  const auto at = std::ranges::find(lines, bare);
  auto store = at;
  while (store != lines.begin() && (*store)->op != Op::Store) --store;
  if (store == lines.begin()) return linear;
  std::rotate(store, at, at + 1);
  return with_lines(g, renamed, lines);
}

}  // namespace

std::vector<Fault> local_faults() {
  constexpr FaultClass kOf = FaultClass::Local;
  return {
      {"local.barriers_dropped", kOf, "There are no barriers.", "pm_implicit_barriers",
       Nodes{Which::All, without_barrier}, "B139"},
      {"local.first_barrier_dropped", kOf, "The first barrier is left out.", "pm_implicit_barriers",
       Nodes{Which::First, without_barrier}, "B139"},
      {"local.last_barrier_dropped", kOf, "The last barrier is left out.", "pm_implicit_barriers",
       Nodes{Which::Last, without_barrier}, "B139"},
      {"local.barrier_in_branch", kOf, "A barrier stands in a branch that one work-item takes.",
       "linearize", Whole{barrier_in_branch}, "B141"},
      {"local.barrier_one_early", kOf, "A barrier stands before the store that it waits for.",
       "linearize", Whole{barrier_early}},
      {"local.one_slot_for_two", kOf, "Two stages have one slot.", "pm_add_local_buffers",
       Whole{slots_merged}, "B181"},
      {"local.last_store_unguarded", kOf, "All work-items store what one of them has.",
       "move_gates",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               const bool is_guarded = u->op == Op::Store && u->src.size() == 3 &&
                                       found(g, u->src[2], is_item) != nullptr;
               return is_guarded ? without_source(g, u, 2) : u;
             }},
       "B137"},
      {"local.gate_of_one_axis", kOf, "One of two axes of a group guards a store.", "move_gates",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               const bool is_of_two = u->op == Op::Store && u->src.size() == 3 &&
                                      u->src[2]->op == Op::And &&
                                      found(g, u->src[2], is_item) != nullptr;
               return is_of_two ? with_source(g, u, 2, u->src[2]->src[0]) : u;
             }},
       "B137"},
      {"local.buffer_one_short", kOf, "Shared storage has room for one element less.",
       "pm_add_local_buffers",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               const bool is_long =
                   is_local_buffer(u) && is_int_const(u->src[0]) && int_of(u->src[0]) > 1;
               return is_long ? with_source(g, u, 0, nudged_constant(g, u->src[0], -1)) : u;
             }}},
      {"local.stored_at_first", kOf, "All work-items store to the first element.", "add_gpu_dims",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               return stored_at(g, u,
                                [](Graph& graph, Ref i) { return graph.constant(i->dtype, 0); });
             }}},
      {"local.stored_two_to_one", kOf, "Two work-items store to one element.", "add_gpu_dims",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               return stored_at(g, u, [](Graph& graph, Ref i) {
                 const Ref two = graph.constant(i->dtype, 2);
                 return graph.alu(Op::Div, {i, two});
               });
             }}},
      {"local.read_one_on", kOf, "What is read of shared storage is the next element.",
       "pm_add_local_buffers",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               const bool is_read = u->op == Op::Index && u->src.size() == 2 &&
                                    u->src[0]->op == Op::After && is_in(g, u, AddrSpace::Local);
               if (!is_read) return u;
               const Ref one = g.constant(u->src[1]->dtype, 1);
               return with_source(g, u, 1, g.alu(Op::Add, {u->src[1], one}));
             }}},
      {"local.accumulator_shared", kOf,
       "An accumulator lies where all work-items of a group see it.", "move_gates",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               if (u->op != Op::Buffer || u->arg.addr_space() != AddrSpace::Reg) return u;
               const auto number = static_cast<int32_t>(u->arg.number());
               return g.make(Op::Buffer, u->dtype, u->src, Arg::place(number, AddrSpace::Local));
             }}},
      {"local.first_half_stored", kOf, "Half of the work-items store what all of them have.",
       "move_gates",
       Nodes{Which::First,
             [](Graph& g, Ref u) {
               if (u->op != Op::Store || u->src.size() != 2) return u;
               if (!is_in(g, u->src[0], AddrSpace::Local)) return u;
               const Ref item = found(g, u->src[0], is_item);
               if (item == nullptr || !is_int_const(item->src[0])) return u;
               const Ref half = g.constant(item->dtype, int_of(item->src[0]) / 2);
               const Ref gate = g.make(Op::Lt, DType::Bool, {item, half});
               return g.make(Op::Store, DType::Void, {u->src[0], u->src[1], gate});
             }}},
  };
}

}  // namespace assay::fuzz
