#include <algorithm>

#include "engine/uop/scope.h"
#include "engine/uop/walk.h"
#include "fuzz/fault/fault.h"

namespace assay::fuzz {
namespace {

using schedule::Edge;
using schedule::EdgeKind;

bool is_war(const Edge& e) { return e.kind == EdgeKind::War; }
bool is_raw(const Edge& e) { return e.kind == EdgeKind::Raw; }

// The last edge of those that `is` names goes.
void drop_last(std::vector<Edge>& edges, bool (*is)(const Edge& e)) {
  const auto at = std::find_if(edges.rbegin(), edges.rend(), is);
  if (at != edges.rend()) edges.erase(std::next(at).base());
}

void drop_first(std::vector<Edge>& edges, bool (*is)(const Edge& e)) {
  const auto at = std::ranges::find_if(edges, is);
  if (at != edges.end()) edges.erase(at);
}

// Of each reader, only the last writer that comes after it waits for it.
void keep_last_writer(std::vector<Edge>& edges) {
  std::vector<Edge> kept;
  for (const Edge& e : edges) {
    const bool has_later = std::ranges::any_of(edges, [&](const Edge& other) {
      return is_war(e) && other.from == e.to && other.kind != EdgeKind::Reuse;
    });
    if (!has_later) kept.push_back(e);
  }
  edges = std::move(kept);
}

// Two calls that stand side by side, of which one waits for the other, change places.
Ref calls_exchanged(Graph& g, Ref linear) {
  Result<std::vector<Edge>> edges = schedule::edges_of(linear);
  if (!edges.ok()) return linear;
  const auto at =
      std::ranges::find_if(edges.value(), [](const Edge& e) { return e.to == e.from + 1; });
  if (at == edges.value().end()) return linear;
  const int32_t a = at->from;
  const int32_t b = at->to;
  std::vector<Ref> calls(linear->src.begin(), linear->src.end());
  std::swap(calls[static_cast<size_t>(a)], calls[static_cast<size_t>(b)]);
  std::vector<Edge> moved;
  const auto place = [&](int32_t i) { return i == a ? b : i == b ? a : i; };
  for (const Edge& e : edges.value()) {
    const Edge now = {place(e.from), place(e.to), e.kind};
    if (now.from < now.to) moved.push_back(now);
  }
  return schedule::make_linear(g, calls, std::move(moved));
}

// AFTER(AFTER(b, x), y) is AFTER(b, y), whose view is of b: what x wrote never was.
Ref pending_write_lost(Graph& g, Ref root) {
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op != Op::After || u->src[0]->op != Op::After) continue;
    const Ref inner = u->src[0];
    return uop::substitute(g, root, {{inner, inner->src[0]}});
  }
  return root;
}

// The version that a store makes is the one that it was made of.
Ref without_store(Ref u, bool (*is)(Op op)) {
  if (u->op != Op::After || u->src.size() != 2 || u->src[1]->op != Op::Store) return u;
  for (Ref view = u->src[1]->src[0]; !view->src.empty(); view = view->src[0]) {
    if (view->op == Op::After) break;
    if (is(view->op)) return u->src[0];
  }
  return u;
}

bool is_older(Ref version) { return version->op == Op::After && version->src[0]->op != Op::Buffer; }

}  // namespace

std::vector<Fault> order_faults() {
  constexpr FaultClass kOf = FaultClass::Order;
  return {
      {"order.war_edge_dropped", kOf, "A reader does not hold the next writer up.", "schedule",
       Edges{[](std::vector<Edge>& edges) { drop_first(edges, is_war); }}, "B009"},
      {"order.war_edges_dropped", kOf, "No reader holds a writer up.", "schedule",
       Edges{[](std::vector<Edge>& edges) { std::erase_if(edges, is_war); }}, "B002"},
      {"order.war_edge_to_last_writer", kOf,
       "A reader holds up the last writer of a buffer instead of the next.", "schedule",
       Edges{keep_last_writer}, "B001"},
      {"order.raw_edge_dropped", kOf, "Who takes a version does not wait for who makes it.",
       "schedule", Edges{[](std::vector<Edge>& edges) { drop_last(edges, is_raw); }}, "B003"},
      {"order.raw_edge_of_next", kOf, "Who takes a version waits for the call before its maker.",
       "schedule", Edges{[](std::vector<Edge>& edges) {
         const auto at =
             std::ranges::find_if(edges, [](const Edge& e) { return is_raw(e) && e.from > 0; });
         if (at != edges.end()) at->from--;
       }}},
      {"order.edge_to_next", kOf, "The call after the one that has to wait waits.", "schedule",
       Edges{[](std::vector<Edge>& edges) {
         int32_t last = 0;
         for (const Edge& e : edges) last = std::max(last, e.to);
         const auto at = std::ranges::find_if(edges, [&](const Edge& e) { return e.to < last; });
         if (at != edges.end()) at->to++;
       }}},
      {"order.no_edges", kOf, "Calls are in the order of a list that nobody keeps.", "schedule",
       Edges{[](std::vector<Edge>& edges) { edges.clear(); }}},
      {"order.waw_edge_dropped", kOf, "Two writers of one version are not ordered.", "schedule",
       Edges{[](std::vector<Edge>& edges) {
         drop_first(edges, [](const Edge& e) { return e.kind == EdgeKind::Waw; });
       }},
       "",
       "equivalent for programs: who writes takes the version that it writes over, so that a RAW "
       "edge "
       "says as much; WAW edges stand in graphs that are written by hand (linear_test)"},
      {"order.calls_exchanged", kOf, "A call comes before the one that it waits for.", "schedule",
       Whole{calls_exchanged}, "B017"},
      {"order.version_before", kOf, "A kernel reads the version before the one it asks for.",
       "split_store",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (u->op != Op::Call) return u;
               for (size_t k = 2; k < u->src.size(); k++) {
                 if (is_older(u->src[k])) return with_source(g, u, k, u->src[k]->src[0]);
               }
               return u;
             }},
       "B011"},
      {"order.write_lost", kOf, "The last write of a buffer is forgotten.", "kernel_graph",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (u->op != Op::Sink) return u;
               for (size_t k = 0; k < u->src.size(); k++) {
                 if (is_older(u->src[k])) return with_source(g, u, k, u->src[k]->src[0]);
               }
               return u;
             }},
       "B010"},
      {"order.pending_write_lost", kOf, "Of two writes with no force between, one is lost.",
       "tensor", Whole{pending_write_lost}, "B015"},
      {"order.view_write_lost", kOf, "A write through a strided view is lost.", "tensor",
       Nodes{Which::First, [](Graph&, Ref u) { return without_store(u, uop::is_movement); }},
       "B006"},
      {"order.bitcast_write_lost", kOf, "A write through a view of other bits is lost.", "tensor",
       Nodes{
           Which::First,
           [](Graph&, Ref u) { return without_store(u, [](Op op) { return op == Op::Bitcast; }); }},
       "B007"},
      {"order.value_before_write", kOf, "What is computed from a version takes the one before it.",
       "tensor",
       Nodes{Which::Last,
             [](Graph& g, Ref u) {
               if (!uop::is_scalar(u->op)) return u;
               for (size_t k = 0; k < u->src.size(); k++) {
                 if (u->src[k]->op == Op::After) return with_source(g, u, k, u->src[k]->src[0]);
               }
               return u;
             }},
       "B005"},
  };
}

}  // namespace assay::fuzz
