#include "props/rules/prove_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/uop/prefix.h"
#include "props/rules/rule_claim.h"

namespace assay::props {
namespace {

using oracles::Answer;
using oracles::Strength;
using oracles::Verdict;
using uop::DType;

std::string side_text(uop::Graph& g, uop::Ref u) {
  const auto text = uop::to_prefix(g, u);
  return text.ok() ? text.value() : "the term";
}

std::string typing_text(const Typing& typing) {
  std::string text;
  for (const auto& [name, t] : typing.holes) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name, uop::to_text(t));
  }
  return text;
}

smt::Effort effort_for(DType over, const RuleJudge& judge) {
  smt::Effort effort;
  effort.seed = judge.seed;
  const bool is_wide_float = uop::is_float(over) && uop::bits_of(over) > 8;
  effort.asks_solvers = judge.widths == Widths::All || !is_wide_float;
  return effort;
}

RuleProof prove_typing(const uop::Rule& rule, DType over, const Typing& typing,
                       const RuleJudge& judge) {
  const RuleClaim made(rule, typing);
  switch (made.state()) {
    case RuleClaim::State::NeverFires:
      return {{Answer::Pass, Strength::Proved, "it never fires"}, "no instance"};
    case RuleClaim::State::IllTyped: return {{Answer::Fail, Strength::Proved, made.why()}, "types"};
    case RuleClaim::State::Unknown:
      return {{Answer::Unknown, Strength::Sampled, made.why()}, made.why()};
    case RuleClaim::State::Claims: break;
  }
  const smt::Claim& claim = made.claim();
  smt::Settled s = smt::settle(claim, judge.prover, judge.tables, "rule", effort_for(over, judge));
  if (s.verdict.answer == Answer::Fail) {
    s.verdict.evidence =
        fmt::format("{} is {} and {} is {} where {}", side_text(claim.g, claim.before),
                    smt::cell_text(s.before), side_text(claim.g, claim.after),
                    smt::cell_text(s.after), smt::point_text(claim, s.point));
  }
  RuleProof proof = {s.verdict, s.method, {}, s.judged};
  for (size_t i = 0; i < s.point.size(); i++) {
    proof.point.emplace_back(claim.leaves[i].u->arg.name(), s.point[i]);
  }
  return proof;
}

bool is_worse(const Verdict& a, const Verdict& b) {
  const auto rank = [](const Verdict& v) {
    if (v.answer == Answer::Fail) return 0;
    if (v.answer == Answer::Unknown) return 1;
    return 2 + static_cast<int>(v.strength);
  };
  return rank(a) < rank(b);
}

// The 8-bit float at which a rule of floats holds exhaustively.
std::optional<DType> narrow_proof(const uop::Rule& rule, const RuleJudge& judge) {
  for (const DType t : {DType::E5M2, DType::E4M3}) {
    if (!rule.over.has(t)) continue;
    const RuleProof proof = prove_rule(rule, t, judge);
    if (proof.verdict.answer == Answer::Pass) return t;
  }
  return std::nullopt;
}

}  // namespace

RuleProof prove_rule(const uop::Rule& rule, DType over, const RuleJudge& judge) {
  const std::vector<Typing> all = typings(rule, over);
  RuleProof worst = {{Answer::Pass, Strength::Proved, "it matches nothing"}, "no instance"};
  for (const Typing& typing : all) {
    RuleProof proof = prove_typing(rule, over, typing, judge);
    if (all.size() > 1 && !proof.verdict.evidence.empty()) {
      proof.verdict.evidence += fmt::format(" ({})", typing_text(typing));
    }
    proof.judged += worst.judged;
    if (&typing == &all.front() || is_worse(proof.verdict, worst.verdict)) worst = proof;
    worst.judged = proof.judged;
    if (worst.verdict.answer == Answer::Fail) return worst;
  }
  const bool is_wide_float = uop::is_float(over) && uop::bits_of(over) > 8;
  if (worst.verdict.answer != Answer::Unknown || !is_wide_float) return worst;
  const std::optional<DType> narrow = narrow_proof(rule, judge);
  if (!narrow) return worst;
  worst.verdict = {
      Answer::Pass, Strength::Sampled,
      fmt::format("all values at {}; {}", uop::to_text(*narrow), worst.verdict.evidence)};
  worst.method = "samples";
  return worst;
}

}  // namespace assay::props
