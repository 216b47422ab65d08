#include "fuzz/blame/blame_pass.h"

#include <fmt/format.h>

#include "fuzz/blame/firing.h"
#include "props/firings/passes.h"

namespace assay::fuzz {
namespace {

// Who blames has found something already, so it may take its time over few passes.
constexpr smt::Budget kEffort = {.first_points = 1 << 14,
                                 .last_points = 1 << 14,
                                 .solver_steps = 200'000,
                                 .cvc5_steps = 10'000,
                                 .watchdog_ms = 500};

bool is_of_states(uop::Ref root) {
  constexpr uop::OpSet kStates = {uop::Op::After, uop::Op::Buffer, uop::Op::Param};
  return root->op == uop::Op::Sink && !root->src.empty() && kStates.has(root->src[0]->op);
}

}  // namespace

PassBlamer::PassBlamer(const uop::Target& target, const uop::Switches& switches, uop::Watch* watch)
    : prover_({.budget = kEffort}), target_(target), switches_(switches), watch_(watch) {}

std::optional<std::string> PassBlamer::trouble_of(const uop::PassSeen& seen) {
  props::Context context{prover_, target_};
  const props::Checked checked = props::pass_keeps_meaning(seen, context);
  if (checked.verdict.answer != oracles::Answer::Fail) return std::nullopt;
  return checked.verdict.evidence;
}

void PassBlamer::seen(const uop::PassSeen& seen) {
  if (!blame_.pass.empty()) return;
  const std::optional<std::string> trouble = trouble_of(seen);
  if (!trouble) return;
  blame_.stage = is_of_states(seen.before) ? "schedule" : "kernel";
  blame_.pass = seen.pass.name;
  blame_.evidence = *trouble;
  blame_.title = fmt::format("{}: {}", blame_.pass, trouble->substr(0, 160));
  const auto is_wrong = [&](const uop::PassSeen& again) { return trouble_of(again).has_value(); };
  const Firing firing = find_firing(seen, switches_, watch_, target_, is_wrong);
  blame_.rule = firing.rule;
  blame_.firing = firing.number;
  if (!firing.title.empty()) blame_.title = firing.title;
}

}  // namespace assay::fuzz
