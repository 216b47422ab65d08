#include "engine/schedule/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "engine/schedule/at.h"
#include "engine/uop/node_map.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::NodeMap;
using uop::Op;

bool is_nested(Ref call) { return call->op == Op::Call && call->src[0]->op == Op::Linear; }

// What variables mean inside calls of LINEARs.
using Scope = std::map<std::string, Ref, std::less<>>;

std::string says(Graph& g, Ref u) {
  const Ref on = uop::device(g, u);
  return fmt::format("{}{}{}", to_text(u->dtype), uop::shape_text(uop::shape(g, u)),
                     on == nullptr ? std::string() : fmt::format(" on {}", on->arg.name()));
}

// The variables of the scope below root, replaced.
Result<Ref> in_scope(Graph& g, Ref root, const Scope& scope) {
  if (scope.empty()) return root;
  uop::Substitution values;
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op != Op::Variable) continue;
    const auto bound = scope.find(u->arg.name());
    if (bound == scope.end()) continue;
    if (bound->second->dtype != u->dtype) {
      return Error{fmt::format("variable {} is {} where it is bound as {}", quoted(u->arg.name()),
                               to_text(u->dtype), to_text(bound->second->dtype))};
    }
    values.emplace(u, bound->second);
  }
  return uop::substitute(g, root, values);
}

// Calls in order, each in a scope of its own.
struct Calls {
  std::vector<Ref> calls;
  std::vector<int32_t> scopes;
  std::vector<Edge> edges;
};

// What stands in the place of a call: a run of calls, those that wait for none of them, and those
// that none of them waits for.
struct Place {
  int32_t begin = 0;
  std::vector<int32_t> first;
  std::vector<int32_t> last;
};

Place place_of(int32_t begin, const Calls& inner) {
  Place place{begin, {}, {}};
  std::vector<char> waits(inner.calls.size());
  std::vector<char> is_waited_for(inner.calls.size());
  for (const Edge& e : inner.edges) {
    waits[at(e.to)] = 1;
    is_waited_for[at(e.from)] = 1;
  }
  for (int32_t k = 0; k < static_cast<int32_t>(inner.calls.size()); k++) {
    if (waits[at(k)] == 0) place.first.push_back(begin + k);
    if (is_waited_for[at(k)] == 0) place.last.push_back(begin + k);
  }
  return place;
}

// Takes the call out of the edges: who waited for it waits for what it waited for.
void bypass(std::vector<Edge>& edges, int32_t call) {
  std::vector<Edge> kept;
  for (const Edge& e : edges) {
    if (e.from != call && e.to != call) kept.push_back(e);
    if (e.to != call) continue;
    for (const Edge& next : edges) {
      if (next.from == call) kept.push_back({e.from, next.to, next.kind});
    }
  }
  edges = std::move(kept);
}

class Resolver {
 public:
  Resolver(Graph& g, int32_t& next_buffer) : g_(g), next_buffer_(next_buffer) {}

  Result<Ref> resolve(Ref call) {
    scopes_.emplace_back();
    ASSAY_TRY(list, opened(call, 0));
    while (std::any_of(list.calls.begin(), list.calls.end(), is_nested)) {
      ASSAY_TRY(flat, flattened(list));
      list = std::move(flat);
    }
    return make_linear(g_, list.calls, std::move(list.edges));
  }

 private:
  // The calls of CALL(LINEAR, args…) over its arguments.
  Result<Calls> opened(Ref call, int32_t scope) {
    Calls list;
    done_.clear();
    args_ = call->src.subspan(1);
    for (const Ref inner : call->src[0]->src) {
      ASSAY_TRY(body, inner_body(inner->src[0], scope));
      std::vector<Ref> sources = {body};
      for (const Ref arg : inner->src.subspan(1)) {
        ASSAY_TRY(now, argument(arg, scope));
        sources.push_back(now);
      }
      list.calls.push_back(g_.with_sources(inner, sources));
      list.scopes.push_back(scope);
    }
    ASSAY_TRY(edges, edges_of(call->src[0]));
    list.edges = std::move(edges);
    return list;
  }

  Result<Ref> inner_body(Ref body, int32_t scope) {
    if (body->op == Op::Linear || scopes_[at(scope)].empty()) return body;
    return in_scope(g_, body, scopes_[at(scope)]);
  }

  Result<Ref> argument(Ref arg, int32_t scope) {
    if (const Ref* known = done_.find(arg)) return *known;
    if (arg->op == Op::Bind) {
      ASSAY_TRY(value, in_scope(g_, arg->src[1], scopes_[at(scope)]));
      return g_.make(Op::Bind, arg->dtype, {arg->src[0], value});
    }
    for (const Ref u : uop::toposort(g_, arg, uop::Extent::OutsideBodies)) {
      if (done_.has(u)) continue;
      ASSAY_TRY(now, resolved(u, scope));
      done_.set(u, now);
    }
    return done_.at(arg);
  }

  // A node of an argument whose sources are resolved.
  Result<Ref> resolved(Ref u, int32_t scope) {
    if (u->op == Op::Param) return given(u);
    if (u->op == Op::Variable) return in_scope(g_, u, scopes_[at(scope)]);
    std::vector<Ref> sources;
    for (const Ref s : u->src) sources.push_back(done_.at(s));
    if (u->op != Op::Buffer) return g_.with_sources(u, sources);
    return g_.make(u->op, u->dtype, sources, uop::Arg::place(next_buffer_++, u->arg.addr_space()));
  }

  // What the call gives for PARAM{slot}.
  Result<Ref> given(Ref param) {
    const int64_t slot = param->arg.number();
    if (slot < 0 || slot >= static_cast<int64_t>(args_.size())) {
      return Error{fmt::format("slot {} has no argument among {}", slot, args_.size())};
    }
    const Ref arg = args_[static_cast<size_t>(slot)];
    const uop::Shape wanted = uop::shape(g_, param);
    const uop::Shape found = uop::shape(g_, arg);
    const Ref on = uop::device(g_, param);
    const bool is_there = on == nullptr || on == uop::device(g_, arg);
    if (param->dtype == arg->dtype && is_there && uop::products_may_equal(g_, wanted, found)) {
      return arg;
    }
    return Error{
        fmt::format("slot {} is {}, and its argument is {}", slot, says(g_, param), says(g_, arg))};
  }

  // The list with each call of a LINEAR replaced by the calls of that.
  Result<Calls> flattened(const Calls& list) {
    Calls flat;
    std::vector<Edge> outer = list.edges;
    std::vector<Place> places;
    for (size_t k = 0; k < list.calls.size(); k++) {
      const auto begin = static_cast<int32_t>(flat.calls.size());
      if (!is_nested(list.calls[k])) {
        places.push_back({begin, {begin}, {begin}});
        flat.calls.push_back(list.calls[k]);
        flat.scopes.push_back(list.scopes[k]);
        continue;
      }
      ASSAY_TRY(inner, opened(list.calls[k], inner_scope(list.calls[k], list.scopes[k])));
      places.push_back(place_of(begin, inner));
      if (inner.calls.empty()) bypass(outer, static_cast<int32_t>(k));
      for (const Edge& e : inner.edges) {
        flat.edges.push_back({begin + e.from, begin + e.to, e.kind});
      }
      flat.calls.insert(flat.calls.end(), inner.calls.begin(), inner.calls.end());
      flat.scopes.insert(flat.scopes.end(), inner.scopes.begin(), inner.scopes.end());
    }
    for (const Edge& e : outer) {
      for (const int32_t from : places[at(e.from)].last) {
        for (const int32_t to : places[at(e.to)].first) flat.edges.push_back({from, to, e.kind});
      }
    }
    return flat;
  }

  // The scope inside a call: what it binds over what is bound around it.
  int32_t inner_scope(Ref call, int32_t around) {
    Scope scope = scopes_[at(around)];
    for (const Ref arg : call->src.subspan(1)) {
      if (arg->op == Op::Bind) scope[std::string(arg->src[0]->arg.name())] = arg->src[1];
    }
    scopes_.push_back(std::move(scope));
    return static_cast<int32_t>(scopes_.size()) - 1;
  }

  Graph& g_;
  int32_t& next_buffer_;
  std::vector<Scope> scopes_;
  std::span<const Ref> args_;
  NodeMap<Ref> done_;  // nodes of arguments, in the call that is being opened
};

// Adds the names of variables in the body.
class Used {
 public:
  void add(Graph& g, Ref body) {
    if (met_.has(body)) return;
    met_.set(body, 1);
    for (const Ref u : uop::toposort(g, body)) {
      if (u->op != Op::Variable) continue;
      const auto name = u->arg.name();
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    }
  }
  std::span<const std::string_view> names() const { return names_; }

 private:
  NodeMap<char> met_;
  std::vector<std::string_view> names_;
};

// The value of a variable among the arguments.
Result<int64_t> value_of(std::string_view name, std::span<const Ref> args) {
  Ref value = nullptr;
  for (const Ref arg : args) {
    if (arg->op != Op::Bind || arg->src[0]->arg.name() != name) continue;
    if (!uop::is_const(arg->src[1])) {
      return Error{fmt::format("variable {} is bound to {}, which is no constant", quoted(name),
                               to_text(arg->src[1]->op))};
    }
    if (value != nullptr && value->arg.bits != arg->src[1]->arg.bits) {
      return Error{fmt::format("variable {} is bound to {} and to {}", quoted(name),
                               to_text(value->value()), to_text(arg->src[1]->value()))};
    }
    value = arg->src[1];
  }
  if (value == nullptr) return Error{fmt::format("variable {} has no value", quoted(name))};
  return static_cast<int64_t>(value->arg.bits);
}

}  // namespace

Result<Ref> resolve_linear_call(Graph& g, Ref call, int32_t& next_buffer) {
  return Resolver(g, next_buffer).resolve(call);
}

Result<LinearWithVars> create_linear_with_vars(Graph& g, Ref call, int32_t& next_buffer) {
  ASSAY_TRY(linear, resolve_linear_call(g, call, next_buffer));
  Used used;
  for (const Ref c : linear->src) used.add(g, c->src[0]);
  LinearWithVars result{linear, {}};
  for (const std::string_view name : used.names()) {
    ASSAY_TRY(value, value_of(name, call->src.subspan(1)));
    result.variables.emplace_back(name, value);
  }
  std::sort(result.variables.begin(), result.variables.end());
  return result;
}

}  // namespace assay::schedule
