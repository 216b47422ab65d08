#include "engine/codegen/gates.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/codegen/forms.h"
#include "engine/codegen/place.h"
#include "engine/codegen/rebuild.h"
#include "engine/uop/eval.h"
#include "engine/uop/given.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::is_const;
using uop::Op;
using uop::Ref;
using uop::Run;
using uop::Value;

bool is_converted(Ref u) { return u->op == Op::Cast || u->op == Op::Bitcast; }

// The one source that u is a function of, constants apart: of a lane the vector. Null where there
// are several, or none, or where a device may be a little off what eval() says.
Ref argument_of(Ref u) {
  if (u->op == Op::Index) return is_state(u->src[0]) ? nullptr : u->src[0];
  const bool is_exact = is_converted(u) || (uop::is_scalar(u->op) && uop::is_int(u->dtype));
  if (!is_exact || u->op == Op::Where) return nullptr;
  Ref argument = nullptr;
  for (const Ref s : u->src) {
    if (is_const(s)) continue;
    if (argument != nullptr) return nullptr;
    argument = s;
  }
  return argument;
}

// The LOAD that u is a function of, step by step; null if there is none.
Ref load_of(Ref u) {
  while (u != nullptr && u->op != Op::Load) u = argument_of(u);
  return u;
}

// u where what it loads is this.
std::optional<Value> value_with(Ref u, Value loaded) {
  std::vector<Ref> steps;
  for (; u->op != Op::Load; u = argument_of(u)) {
    if (u->op != Op::Index) steps.push_back(u);
  }
  std::optional<Value> value = loaded;
  std::vector<Value> operands;
  while (!steps.empty() && value) {
    const Ref step = steps.back();
    steps.pop_back();
    operands.clear();
    for (const Ref s : step->src) operands.push_back(is_const(s) ? s->value() : *value);
    value = eval(step->op, step->dtype, operands);
  }
  return value;
}

// What has to be loaded for u to be this, where u is but converted; zero where u is this with zero.
std::optional<Value> loaded_for(Ref u, Value want) {
  std::optional<Value> value = want;
  Ref v = u;
  for (; value && (is_converted(v) || v->op == Op::Index); v = v->src[0]) {
    if (v->op == Op::Index) continue;
    const Value operand[] = {*value};
    value = eval(v->op, v->src[0]->dtype, operand);
  }
  if (v->op != Op::Load) value = zero_of(load_of(u)->dtype);
  return value && value_with(u, *value) == want ? value : std::nullopt;
}

// where(gate, value of a load, constant), whichever way around it stands, or several such with one
// constant, each in the other.
struct Select {
  std::vector<Ref> gates;  // all of which hold where the value is picked
  size_t branch = 0;       // the source of the outermost that leads to it
  Ref picked = nullptr;
  Ref constant = nullptr;
};

std::optional<Select> select_of(Ref u) {
  Select s;
  while (u->op == Op::Where) {
    const bool is_inverted = u->src[0]->op == Op::Not;
    const Ref constant = u->src[is_inverted ? 1 : 2];
    if (!is_const(constant) || (s.constant != nullptr && constant != s.constant)) break;
    const std::vector<Ref> gates = uop::conjuncts(is_inverted ? u->src[0]->src[0] : u->src[0]);
    s.gates.insert(s.gates.end(), gates.begin(), gates.end());
    s.constant = constant;
    const size_t branch = is_inverted ? 2 : 1;
    if (s.branch == 0) s.branch = branch;
    u = u->src[branch];
  }
  s.picked = u;
  return s.constant != nullptr && load_of(u) != nullptr ? std::optional(s) : std::nullopt;
}

// Whether each of these is among those.
bool is_among(std::span<const Ref> these, std::span<const Ref> those) {
  return std::ranges::all_of(these,
                             [&](Ref u) { return std::ranges::find(those, u) != those.end(); });
}

class GateMover {
 public:
  GateMover(Run& run, Ref root) : run_(run), g_(run.graph()), order_(toposort(g_, root)) {}

  Ref moved() {
    alternatives();
    return rebuild(g_, order_, [&](Ref u, std::span<const Ref> now) { return of(u, now); });
  }

 private:
  void alternatives();
  Ref of(Ref u, std::span<const Ref> now);
  Ref loaded(Ref load, Ref place, uop::Gated at);
  bool is_alternative(const Select& s, Ref load) const;
  Value alternative(Ref load) const {
    const auto known = alternatives_.find(load);
    return known == alternatives_.end() ? zero_of(load->dtype) : known->second;
  }

  Run& run_;
  Graph& g_;
  std::vector<Ref> order_;
  std::unordered_map<Ref, Value> alternatives_;  // of loads that a select is about
};

bool is_bare(Ref u) {
  const bool is_access =
      (u->op == Op::Load && u->src.size() == 1) || (u->op == Op::Store && u->src.size() == 2);
  return is_access && !is_state(u->src[0]);
}

// The gates of a LOAD that still has them at its index.
std::vector<Ref> own_gates(Ref load) {
  const Ref gate = is_bare(load) ? uop::split_gate(load->src[0]->src[1]).gate : nullptr;
  return gate == nullptr ? std::vector<Ref>() : uop::conjuncts(gate);
}

// The first select on a load's own gate says what the load is without it.
void GateMover::alternatives() {
  for (const Ref u : order_) {
    const std::optional<Select> s = select_of(u);
    if (!s) continue;
    const std::vector<Ref> own = own_gates(load_of(s->picked));
    if (!is_among(s->gates, own) || !is_among(own, s->gates)) continue;
    const std::optional<Value> value = loaded_for(s->picked, s->constant->value());
    if (value) alternatives_.try_emplace(load_of(s->picked), *value);
  }
}

// Where the load is done all gates of the select hold, and elsewhere it is what the select picks.
bool GateMover::is_alternative(const Select& s, Ref load) const {
  return is_among(s.gates, own_gates(load)) &&
         value_with(s.picked, alternative(load)) == s.constant->value();
}

Ref GateMover::loaded(Ref load, Ref place, uop::Gated at) {
  const Ref other = g_.constant(alternative(load));
  if (at.index->op != Op::Invalid) return g_.make(Op::Load, load->dtype, {place, other, at.gate});
  if (place->op == Op::Index) return other;
  const std::vector<Ref> lanes(static_cast<size_t>(as_int(place->src[2]->value())), other);
  return g_.make(Op::Stack, load->dtype, lanes);
}

Ref GateMover::of(Ref u, std::span<const Ref> now) {
  if (const std::optional<Select> s = select_of(u)) {
    if (is_alternative(*s, load_of(s->picked))) return now[s->branch];
  }
  if (!is_bare(u)) return on_sources(g_, u, now);
  const uop::Gated at = split_gates(run_, now[0]->src[1]);
  if (at.gate == nullptr && at.index->op != Op::Invalid) return on_sources(g_, u, now);
  std::vector<Ref> sources(now[0]->src.begin(), now[0]->src.end());
  sources[1] = at.index;
  const Ref place = g_.with_sources(now[0], sources);
  if (u->op == Op::Load) return loaded(u, place, at);
  if (at.index->op == Op::Invalid) return g_.make(Op::Group, u->dtype, {});
  return g_.make(Op::Store, u->dtype, {place, now[1], at.gate});
}

Result<Ref> gates(Run& run, Ref root) { return GateMover(run, root).moved(); }

}  // namespace

const uop::Pass& move_gates() {
  static const uop::Pass pass = {"move_gates", lowered_form(), gated_form(), {}, {}, gates};
  return pass;
}

}  // namespace assay::codegen
