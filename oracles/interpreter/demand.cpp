#include "oracles/interpreter/demand.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

// Root's nodes, sources before users, behind what is there.
void append_below(Ref root, Demand& demand) {
  struct Frame {
    Ref u;
    size_t next;
  };
  const auto first = [](Ref u) { return u->op == Op::Call ? size_t{1} : size_t{0}; };
  if (demand.places.has(root)) return;
  std::vector<Frame> stack = {{root, first(root)}};
  demand.places.set(root, -1);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next == top.u->src.size()) {
      demand.places.set(top.u, static_cast<int>(demand.nodes.size()));
      demand.nodes.push_back(top.u);
      stack.pop_back();
      continue;
    }
    const Ref s = top.u->src[top.next++];
    if (demand.places.has(s)) continue;
    demand.places.set(s, -1);
    stack.push_back({s, first(s)});
  }
}

void find_open(Demand& demand) {
  for (size_t i = 0; i < demand.nodes.size(); i++) {
    const Ref u = demand.nodes[i];
    bool open = u->op == Op::Range;
    if (u->op != Op::Stage && u->op != Op::Call) {
      for (const Ref s : u->src) open = open || demand.open[demand.place(s)];
    }
    demand.open.push_back(open);
  }
}

class Marker {
 public:
  explicit Marker(Demand& demand) : demand_(demand) {}

  void mark(Ref u, uint8_t want, int user) {
    const size_t i = demand_.place(u);
    demand_.wants[i] |= want;
    demand_.last_user[i] = std::max(demand_.last_user[i], user);
  }
  // What u asks of its sources.
  Result<bool> visit(Ref u, int place);

 private:
  void sources(Ref u, size_t first, int user, bool term) {
    for (const Ref s : u->src.subspan(std::min(first, u->src.size()))) {
      if (s->op == Op::Device) continue;
      mark(s, term && demand_.open[demand_.place(s)] ? Demand::kTerm : Demand::kValue, user);
    }
  }
  Result<bool> effect(Ref state, Ref effect, int user);

  Demand& demand_;
};

Result<bool> Marker::effect(Ref state, Ref effect, int user) {
  if (effect->op == Op::Call) {
    for (const Ref a : effect->src.subspan(1)) {
      if (a->op != Op::Bind && a->op != Op::Variable) mark(a, Demand::kState, user);
    }
    return true;
  }
  if (effect->op != Op::Store)
    return Error{fmt::format("after waits for {}", uop::to_text(effect->op))};
  if (viewed(effect->src[0], state) == nullptr) {
    return Error{"a store through a view of another state than its version is made from"};
  }
  mark(effect->src[1], Demand::kValue, user);
  for (Ref view = effect->src[0]; view != state; view = view->src[0]) sources(view, 1, user, false);
  return true;
}

Result<bool> Marker::visit(Ref u, int place) {
  const uint8_t wants = demand_.wants[static_cast<size_t>(place)];
  // What a term asks for is asked for by its STAGE.
  const bool term = (wants & Demand::kTerm) != 0;
  const int user = term ? demand_.last_user[static_cast<size_t>(place)] : place;
  switch (u->op) {
    case Op::Bind: return true;
    case Op::After:
      mark(u->src[0], Demand::kState, user);
      for (const Ref e : u->src.subspan(1)) {
        if (auto marked = effect(u->src[0], e, user); !marked.ok()) return marked;
      }
      return true;
    case Op::Stage:
      sources(u, 0, user, true);
      for (const Ref r : u->src.subspan(1)) {
        if (r->op != Op::Range) return Error{"a stage over what is no range"};
      }
      return true;
    default: sources(u, 0, user, term); return true;
  }
}

}  // namespace

Ref viewed(Ref view, Ref state) {
  while (view != state) {
    if (!uop::is_movement(view->op) && view->op != Op::Bitcast) return nullptr;
    view = view->src[0];
  }
  return view;
}

Result<Demand> demand_of(std::span<const Ref> roots) {
  Demand demand;
  for (const Ref root : roots) append_below(root, demand);
  const size_t n = demand.nodes.size();
  demand.open.reserve(n);
  find_open(demand);
  demand.wants.assign(n, 0);
  demand.last_user.assign(n, -1);
  Marker marker(demand);
  for (const Ref root : roots) marker.mark(root, Demand::kValue, static_cast<int>(n));
  for (size_t i = n; i-- > 0;) {
    if (demand.wants[i] == 0) continue;
    if (auto marked = marker.visit(demand.nodes[i], static_cast<int>(i)); !marked.ok())
      return marked.error();
  }
  return demand;
}

}  // namespace assay::interpreter
