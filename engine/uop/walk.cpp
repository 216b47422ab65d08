#include "engine/uop/walk.h"

#include <algorithm>

#include "engine/uop/facts.h"

namespace assay::uop {
namespace {

struct Frame {
  Ref u;
  size_t next;  // the source to visit next
};

// The sources of u in `map`; those without an entry stay.
void mapped_sources(Ref u, const Substitution& map, std::vector<Ref>& out) {
  out.clear();
  for (const Ref s : u->src) {
    const auto found = map.find(s);
    out.push_back(found == map.end() ? s : found->second);
  }
}

Arg copy_arg(Graph& to, Arg arg) {
  if (!arg.has_record()) return arg;
  switch (arg.kind) {
    case ArgKind::Numbers: return to.numbers(arg.numbers());
    case ArgKind::Name: return to.name(arg.name());
    case ArgKind::Symbol: return to.symbol(arg.name(), arg.numbers());
    default: return to.info(arg.name(), arg.numbers());
  }
}

Arg with_number(Arg arg, int32_t number) {
  if (arg.kind == ArgKind::Axis) return Arg::axis(number, arg.axis_type());
  if (arg.kind == ArgKind::Place) return Arg::place(number, arg.addr_space());
  return Arg::number(number);
}

}  // namespace

size_t first_source(Ref u, Extent extent) {
  if (extent == Extent::Term) return is_scalar(u->op) ? 0 : u->src.size();
  return extent == Extent::OutsideBodies && u->op == Op::Call ? 1 : 0;
}

std::vector<Ref> toposort(Graph& g, Ref root, Extent extent) {
  // Memory of walks before, since most graphs are small and walked often.
  thread_local std::vector<Ref> order;
  thread_local std::vector<Frame> stack;
  NodeSet& visited = g.facts().visited;
  visited.clear();
  order.clear();
  stack.assign(1, {root, first_source(root, extent)});
  visited.insert(root);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next == top.u->src.size()) {
      order.push_back(top.u);
      stack.pop_back();
      continue;
    }
    const Ref s = top.u->src[top.next++];
    if (visited.insert(s)) stack.push_back({s, first_source(s, extent)});
  }
  return {order.begin(), order.end()};
}

size_t count_ops(Graph& g, Ref root) {
  const std::vector<Ref> order = toposort(g, root);
  return static_cast<size_t>(
      std::count_if(order.begin(), order.end(), [](Ref u) { return is_scalar(u->op); }));
}

Ref substitute(Graph& g, Ref root, const Substitution& map, Extent extent) {
  Substitution done = map;
  std::vector<Ref> sources;
  for (const Ref u : toposort(g, root, extent)) {
    if (done.contains(u)) continue;
    mapped_sources(u, done, sources);
    const Ref now = g.with_sources(u, sources);
    if (now != u) done.emplace(u, now);
  }
  const auto found = done.find(root);
  return found == done.end() ? root : found->second;
}

Ref copy_to(Graph& to, Graph& from, Ref root) {
  NodeMap<Ref>& done = from.facts().rebuilt;
  done.clear();
  std::vector<Ref> sources;
  for (const Ref u : toposort(from, root)) {
    sources.clear();
    for (const Ref s : u->src) sources.push_back(done.at(s));
    done.set(u, to.make(u->op, u->dtype, sources, copy_arg(to, u->arg)));
  }
  return done.at(root);
}

Ref renumber(Graph& g, Ref root) {
  std::unordered_map<uint64_t, int32_t> numbers[3];
  Substitution done;
  std::vector<Ref> sources;
  for (const Ref u : toposort(g, root)) {
    mapped_sources(u, done, sources);
    Arg arg = u->arg;
    const bool numbered = u->op == Op::Buffer || u->op == Op::Range || u->op == Op::Param;
    if (numbered) {
      auto& seen = numbers[u->op == Op::Buffer ? 0 : u->op == Op::Range ? 1 : 2];
      const auto next = static_cast<int32_t>(seen.size());
      arg = with_number(arg, seen.emplace(static_cast<uint64_t>(arg.number()), next).first->second);
    }
    const Ref now = g.make(u->op, u->dtype, sources, arg);
    if (now != u) done[u] = now;
  }
  const auto found = done.find(root);
  return found == done.end() ? root : found->second;
}

}  // namespace assay::uop
