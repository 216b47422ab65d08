#include <algorithm>

#include "engine/uop/dim.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"
#include "fuzz/fault/fault.h"

namespace assay::fuzz {
namespace {

using schedule::Edge;
using schedule::EdgeKind;

constexpr int64_t kBlock = 256;  // of arenas

bool is_reuse(const Edge& e) { return e.kind == EdgeKind::Reuse; }

// SHRINK(arena, offset, bytes).
bool is_part(Ref u) {
  return u->op == Op::Shrink && u->src[0]->op == Op::Buffer && u->src.size() == 3 &&
         is_int_const(u->src[1]);
}

Ref at_offset(Graph& g, Ref part, int64_t offset) {
  return with_source(g, part, 1, uop::dim(g, offset));
}

// The first view of an arena that lies elsewhere than another, of its size at least, moves there.
Ref one_over_another(Graph& g, Ref root) {
  std::vector<Ref> parts;
  for (const Ref u : uop::toposort(g, root)) {
    if (is_part(u)) parts.push_back(u);
  }
  for (const Ref a : parts) {
    for (const Ref b : parts) {
      if (a->src[0] != b->src[0] || a->src[1] == b->src[1]) continue;
      if (int_of(a->src[2]) < int_of(b->src[2])) continue;
      return uop::substitute(g, root, {{b, at_offset(g, b, int_of(a->src[1]))}});
    }
  }
  return root;
}

// Storage of calls, in the order of first use, that is a buffer's own.
std::vector<Ref> buffers_of(Ref linear) {
  std::vector<Ref> all;
  for (const Ref call : linear->src) {
    for (const Ref b : call->src.subspan(1)) {
      if (b->op == Op::Buffer && std::ranges::find(all, b) == all.end()) all.push_back(b);
    }
  }
  return all;
}

bool is_alike(Ref a, Ref b) {
  return a->dtype == b->dtype && std::ranges::equal(a->src, b->src) && a != b;
}

// Two buffers of one type and size are one.
Ref buffers_merged(Graph& g, Ref linear) {
  const std::vector<Ref> all = buffers_of(linear);
  for (auto b = all.rbegin(); b != all.rend(); ++b) {
    for (auto a = std::next(b); a != all.rend(); ++a) {
      if (is_alike(*a, *b))
        return uop::substitute(g, linear, {{*b, *a}}, uop::Extent::OutsideBodies);
    }
  }
  return linear;
}

// A place in an arena for what lives in a buffer that the session holds.
Ref temporary_in_held(Graph& g, Ref linear) {
  const std::vector<Ref> held = buffers_of(linear);
  for (const Ref call : linear->src) {
    for (const Ref view : call->src.subspan(1)) {
      if (view->op != Op::Bitcast || !is_part(view->src[0])) continue;
      for (const Ref b : held) {
        const auto count = uop::constant_size(uop::shape(g, b));
        if (b->dtype != view->dtype || !count) continue;
        if (*count * uop::bytes_of(b->dtype) != int_of(view->src[0]->src[2])) continue;
        if (uop::shape(g, b).size() != uop::shape(g, view).size()) continue;
        return uop::substitute(g, linear, {{view, b}}, uop::Extent::OutsideBodies);
      }
    }
  }
  return linear;
}

}  // namespace

std::vector<Fault> memory_faults() {
  constexpr FaultClass kOf = FaultClass::Memory;
  return {
      {"memory.reuse_edge_dropped", kOf, "One reuse edge is dropped.", "planned",
       Edges{[](std::vector<Edge>& edges) {
         const auto at = std::ranges::find_if(edges, is_reuse);
         if (at != edges.end()) edges.erase(at);
       }},
       "B037"},
      {"memory.last_reuse_edge_dropped", kOf, "The last reuse edge is dropped.", "planned",
       Edges{[](std::vector<Edge>& edges) {
         const auto at = std::find_if(edges.rbegin(), edges.rend(), is_reuse);
         if (at != edges.rend()) edges.erase(std::next(at).base());
       }}},
      {"memory.no_reuse_edges", kOf, "No reuse edge is made: storage freed for one is used by all.",
       "planned", Edges{[](std::vector<Edge>& edges) { std::erase_if(edges, is_reuse); }}, "B039"},
      {"memory.reuse_edge_of_one_user", kOf,
       "Who is laid over storage waits for one of its last users.", "planned",
       Edges{[](std::vector<Edge>& edges) {
         std::vector<Edge> kept;
         for (const Edge& e : edges) {
           const bool is_second = std::ranges::any_of(
               kept, [&](const Edge& k) { return is_reuse(k) && is_reuse(e) && k.to == e.to; });
           if (!is_second) kept.push_back(e);
         }
         edges = std::move(kept);
       }}},
      {"memory.reuse_edge_of_call_before", kOf,
       "Who is laid over storage waits for the call before its last user.", "planned",
       Edges{[](std::vector<Edge>& edges) {
         for (Edge& e : edges) e.from -= is_reuse(e) && e.from > 0 ? 1 : 0;
       }}},
      {"memory.edges_of_versions_lost", kOf, "The plan keeps no edges but its own.", "planned",
       Edges{[](std::vector<Edge>& edges) {
         std::erase_if(edges, [](const Edge& e) { return !is_reuse(e); });
       }}},
      {"memory.all_at_offset_zero", kOf, "Every view begins where its arena does.", "planned",
       Nodes{Which::All, [](Graph& g, Ref u) { return is_part(u) ? at_offset(g, u, 0) : u; }},
       "B034"},
      {"memory.offset_one_block_low", kOf, "A view begins a block too low.", "planned",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (!is_part(u) || int_of(u->src[1]) < kBlock) return u;
               return at_offset(g, u, int_of(u->src[1]) - kBlock);
             }},
       "B181"},
      {"memory.offset_in_bytes_too_few", kOf, "Offsets are kept in eight bits of blocks.",
       "planned",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               if (!is_part(u)) return u;
               return at_offset(g, u, int_of(u->src[1]) % (2 * kBlock));
             }},
       "B041"},
      {"memory.arena_too_small", kOf, "Sizes are not rounded up before they are summed.", "planned",
       Nodes{Which::All,
             [](Graph& g, Ref u) {
               if (u->op != Op::Buffer || u->dtype != DType::U8 || u->src.empty()) return u;
               if (!is_int_const(u->src[0]) || int_of(u->src[0]) < kBlock) return u;
               return with_source(g, u, 0, uop::dim(g, int_of(u->src[0]) - kBlock));
             }},
       "B035"},
      {"memory.one_over_another", kOf, "A buffer is laid over one that still lives.", "planned",
       Whole{one_over_another}, "B038"},
      {"memory.buffers_merged", kOf, "Two temporaries of one type and size are one.", "linear",
       Whole{buffers_merged}, "B043"},
      {"memory.temporary_in_held", kOf, "A temporary is laid into a buffer that is held.",
       "planned", Whole{temporary_in_held}, "B033"},
      {"memory.arguments_exchanged", kOf, "A call takes two of its buffers for one another.",
       "planned",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (u->op != Op::Call) return u;
               for (size_t k = 2; k + 1 < u->src.size(); k++) {
                 const Ref a = u->src[k];
                 const Ref b = u->src[k + 1];
                 const bool is_same = a->dtype == b->dtype && a != b &&
                                      std::ranges::equal(uop::shape(g, a), uop::shape(g, b));
                 if (is_same) return with_source(g, with_source(g, u, k, b), k + 1, a);
               }
               return u;
             }},
       "B159"},
  };
}

}  // namespace assay::fuzz
