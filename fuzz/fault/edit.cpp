#include "fuzz/fault/edit.h"

#include <algorithm>

#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::fuzz {
namespace {

// A list takes the place of its lines one by one: a line that two others became is there once.
Ref rebuilt(Graph& g, Ref u, const uop::Substitution& done) {
  std::vector<Ref> sources;
  bool is_changed = false;
  for (const Ref s : u->src) {
    sources.push_back(done.at(s));
    is_changed = is_changed || sources.back() != s;
  }
  return is_changed ? g.with_sources(u, sources) : u;
}

}  // namespace

Ref edited(Graph& g, Ref root, Which which, NodeEdit edit) {
  const std::vector<Ref> order = uop::toposort(g, root);
  if (which == Which::All) {
    uop::Substitution done;
    for (const Ref u : order) {
      const Ref now = rebuilt(g, u, done);
      done[u] = edit(g, now);
    }
    return done.at(root);
  }
  Ref from = nullptr;
  Ref to = nullptr;
  for (const Ref u : order) {
    if (which == Which::First && from != nullptr) break;
    const Ref now = edit(g, u);
    if (now == u) continue;
    from = u;
    to = now;
  }
  return from == nullptr ? root : uop::substitute(g, root, {{from, to}});
}

Ref with_source(Graph& g, Ref u, size_t k, Ref source) {
  std::vector<Ref> sources(u->src.begin(), u->src.end());
  sources[k] = source;
  return g.with_sources(u, sources);
}

Ref without_source(Graph& g, Ref u, size_t k) {
  std::vector<Ref> sources(u->src.begin(), u->src.end());
  sources.erase(sources.begin() + static_cast<std::ptrdiff_t>(k));
  return g.with_sources(u, sources);
}

Ref with_exchanged(Graph& g, Ref u, size_t k, Ref a, Ref b) {
  return with_source(g, u, k, uop::substitute(g, u->src[k], {{a, b}, {b, a}}));
}

bool is_int_const(Ref u) { return u->op == Op::Const && !uop::is_float(u->dtype); }

int64_t int_of(Ref u) { return static_cast<int64_t>(u->arg.bits); }

Ref nudged_constant(Graph& g, Ref u, int64_t by) {
  return is_int_const(u) && u->dtype != DType::Bool ? g.constant(u->dtype, int_of(u) + by) : u;
}

Ref with_nudged_operand(Graph& g, Ref u, int64_t by) {
  if (u->src.size() != 2 || !is_int_const(u->src[1])) return u;
  return with_source(g, u, 1, nudged_constant(g, u->src[1], by));
}

bool holds(Graph& g, Ref u, Ref inner) {
  const std::vector<Ref> below = uop::toposort(g, u);
  return std::ranges::find(below, inner) != below.end();
}

Ref found(Graph& g, Ref u, bool (*is)(Ref u)) {
  const std::vector<Ref> below = uop::toposort(g, u);
  const auto at = std::ranges::find_if(below, is);
  return at == below.end() ? nullptr : *at;
}

bool is_in(Graph& g, Ref u, uop::AddrSpace space) {
  const Ref b = uop::buffer(g, u);
  if (b == nullptr) return false;
  if (b->op == Op::Param) return space == uop::AddrSpace::Global;
  return b->op == Op::Buffer && b->arg.addr_space() == space;
}

bool is_input(Graph& g, Ref u) {
  if (u->op != Op::Index || u->src.size() != 2) return false;
  const Ref b = uop::buffer(g, u);
  return b != nullptr && b->op == Op::Param && b->arg.number() > 0;
}

bool is_special(Ref u, std::string_view name) {
  return u->op == Op::Special && u->arg.name() == name;
}

Ref with_edges(Graph& g, Ref linear, void (*edit)(std::vector<schedule::Edge>& edges)) {
  const Result<std::vector<schedule::Edge>> made = schedule::edges_of(linear);
  if (!made.ok()) return linear;
  std::vector<schedule::Edge> edges = made.value();
  edit(edges);
  return schedule::make_linear(g, linear->src, std::move(edges));
}

Ref with_lines(Graph& g, Ref linear, std::vector<Ref> lines) {
  return g.with_sources(linear, lines);
}

}  // namespace assay::fuzz
