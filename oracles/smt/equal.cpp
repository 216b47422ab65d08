#include "oracles/smt/equal.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/uop/prefix.h"
#include "engine/uop/walk.h"
#include "oracles/smt/claim.h"

namespace assay::smt {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;

bool is_claim_leaf(Op op) { return op == Op::Variable || op == Op::Range || op == Op::Special; }

// A node with operands that are no part of the term stands for some value: a LOAD, a PARAM. Of
// terms in their order the same node is the same variable in all of them.
uop::Substitution variables_for(Graph& g, std::span<const Ref> terms) {
  uop::Substitution map;
  for (const Ref term : terms) {
    for (const Ref u : uop::toposort(g, term)) {
      const bool is_known =
          is_claim_leaf(u->op) || uop::is_const(u) || u->op == Op::Invalid || uop::is_scalar(u->op);
      if (is_known || u->dtype == uop::DType::Void || map.contains(u)) continue;
      map[u] = g.variable(fmt::format("{}.{}", uop::to_text(u->op), map.size()), u->dtype);
    }
  }
  return map;
}

// The leaves of all terms, each once, and that a RANGE is below its count.
void add_leaves(Claim& claim, std::span<const Ref> terms) {
  const auto is_met = [&](Ref u) {
    return std::any_of(claim.leaves.begin(), claim.leaves.end(),
                       [&](const Claim::Leaf& leaf) { return leaf.u == u; });
  };
  for (const Ref term : terms) {
    for (const Ref u : uop::toposort(claim.g, term)) {
      if (!is_claim_leaf(u->op) || is_met(u)) continue;
      claim.leaves.push_back({u});
      if (u->op == Op::Variable || uop::is_const(u->src[0])) continue;
      claim.when.push_back(claim.g.alu(Op::Lt, {u, u->src[0]}));
    }
  }
}

std::string term_text(Graph& g, Ref u) {
  const auto text = uop::to_prefix(g, u);
  return text.ok() ? text.value() : fmt::format("a term of {}", uop::to_text(u->dtype));
}

}  // namespace

Refines refines(Graph& g, Ref before, Ref after, std::span<const Ref> when, Prover& prover,
                std::string_view kind) {
  if (before == after) return {{oracles::Answer::Pass, oracles::Strength::Proved, ""}, "folding"};
  std::vector<Ref> terms = {before, after};
  terms.insert(terms.end(), when.begin(), when.end());
  const uop::Substitution map = variables_for(g, terms);
  if (!map.empty()) {
    for (Ref& term : terms) term = uop::substitute(g, term, map);
  }
  Claim claim = {g, terms[0], terms[1], {}};
  claim.when.assign(terms.begin() + 2, terms.end());
  add_leaves(claim, terms);
  Tables tables;
  Effort effort;
  effort.samples = 64;
  const Settled s = settle(claim, prover, tables, kind, effort);
  Refines answer = {s.verdict, s.method};
  if (s.verdict.answer == oracles::Answer::Fail) {
    answer.verdict.evidence = fmt::format("{} => {}: {}", term_text(g, claim.before),
                                          term_text(g, claim.after), s.verdict.evidence);
  }
  return answer;
}

}  // namespace assay::smt
