#include <fmt/format.h>

#include <algorithm>

#include "props/kernel/subject.h"

namespace assay::props::kernel {
namespace {

// Narrowings of a constraint that a search may take: some milliseconds.
constexpr int64_t kSteps = 100'000;

Decided by_prover(const Problem& problem, Context& context, std::string_view kind) {
  const smt::Decision decision = context.prover.decide(problem.formula(), kind);
  Decided d;
  d.method = decision.method;
  switch (decision.answer) {
    case smt::Satisfiable::No: d.found = Found::No; break;
    case smt::Satisfiable::Yes:
      d.found = Found::Yes;
      for (const smt::Number& v : decision.model) d.values.push_back(v.n);
      break;
    case smt::Satisfiable::Unknown: d.method = decision.why; break;
  }
  return d;
}

}  // namespace

void state_contract(const Subject& s, Checked& checked) {
  if (!s.target.memory) {
    const auto is_local = [](const Storage& o) { return o.space == uop::AddrSpace::Local; };
    if (s.model.barriers.empty() && std::ranges::none_of(s.model.storages, is_local)) return;
    checked.add_unknown("no memory contract", s.target.name + " has no memory contract");
    return;
  }
  static constexpr std::string_view kStanding[] = {"nowhere", "where all take the same way",
                                                   "anywhere"};
  const uop::MemoryContract& c = *s.target.memory;
  const std::string text = fmt::format(
      "the memory contract has LOCAL stores seen {}, barriers reached by the {}, in loops {}, in "
      "branches {}",
      c.local == uop::Visibility::AtOnce ? "at once" : "after a barrier",
      c.barrier == uop::Reach::Group ? "group" : "subgroup", kStanding[static_cast<int>(c.in_loop)],
      kStanding[static_cast<int>(c.in_branch)]);
  std::string& said = checked.verdict.evidence;
  said += said.empty() ? text : "; " + text;
}

bool wants_two(const Context& context) {
  const smt::ProverOptions& options = context.prover.options();
  return options.is_doubled || options.asks_z3;
}

Decided decide(const Question& question, Context& context, std::string_view kind) {
  const Problem& problem = question.problem();
  Problem::Answer answer = problem.search(kSteps);
  if (answer.found == Found::Yes && !problem.holds(answer.values)) {
    return {Found::Unknown, {}, "search is wrong"};
  }
  Decided own = {answer.found, std::move(answer.values), "affine"};
  const smt::ProverOptions& options = context.prover.options();
  if (own.found != Found::Unknown && !wants_two(context)) return own;
  Decided other = by_prover(problem, context, kind);
  if (own.found == Found::Unknown) return other;
  if (other.found == Found::Unknown) {
    // Where two have to agree, one is not enough.
    return options.is_doubled ? other : own;
  }
  if (other.found != own.found) return {Found::Unknown, {}, "methods disagree"};
  own.method = options.asks_z3 ? other.method : own.method;
  return own;
}

}  // namespace assay::props::kernel
