#include "engine/codegen/place.h"

#include "engine/check.h"
#include "engine/uop/bounds.h"
#include "engine/uop/rules/rules.h"

namespace assay::codegen {

using uop::AddrSpace;
using uop::Gated;
using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Run;

bool is_state(Ref u) {
  while (u->op == Op::After) u = u->src[0];
  return u->op == Op::Buffer || u->op == Op::Param;
}

bool is_place(Ref u) {
  return is_state(u) || ((u->op == Op::Index || u->op == Op::Shrink) && is_state(u->src[0]));
}

bool is_read(Ref u, size_t i) {
  switch (u->op) {
    case Op::Store:
    case Op::Load: return i > 0;
    case Op::Index:
    case Op::Shrink: return i > 0 || !is_state(u->src[0]);
    case Op::After:
    case Op::End:
    case Op::Group:
    case Op::Barrier:
    case Op::Sink: return false;
    default: return true;
  }
}

AddrSpace space_of(Ref state) {
  while (state->op == Op::After) state = state->src[0];
  return state->op == Op::Buffer ? state->arg.addr_space() : AddrSpace::Global;
}

Shifted shifted(Ref u) {
  if (is_const(u)) return {nullptr, static_cast<int64_t>(u->arg.bits)};
  if (u->op != Op::Add || !is_const(u->src[1])) return {u};
  return {u->src[0], static_cast<int64_t>(u->src[1]->arg.bits)};
}

namespace {

Gated peeled(Graph& g, Ref u) {
  Gated at = {u};
  while (uop::is_gated(at.index)) {
    const Ref condition = at.index->src[0];
    const bool is_known = is_const(condition);
    if (is_known && condition->value().bits == 0) return {at.index->src[2]};
    if (!is_known) at.gate = uop::both(g, at.gate, condition);
    at.index = at.index->src[1];
  }
  return at.index->op == Op::Invalid ? Gated{at.index} : at;
}

}  // namespace

Gated split_gates(Run& run, Ref u) {
  Graph& g = run.graph();
  const Gated at = peeled(g, u);
  const Ref base = shifted(at.index).base;
  if (base == nullptr || at.index->op == Op::Invalid || !may_be_invalid(g, base)) return at;
  // A gate within the arithmetic: it is one of the whole index.
  const uop::RuleSet* const rules[] = {&uop::invalid_rules()};
  const Result<Ref> outwards =
      run.rewrite(rules, uop::gated(g, at.index, at.gate), {.extent = uop::Extent::Term});
  ASSAY_CHECK(outwards.ok(), "{}", outwards.error().message);
  const Gated whole = peeled(g, outwards.value());
  ASSAY_CHECK(whole.index->op == Op::Invalid || !may_be_invalid(g, whole.index),
              "an index is invalid where no gate says so");
  return whole;
}

}  // namespace assay::codegen
