#include "props/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/uop/pass.h"
#include "engine/uop/rule.h"

namespace assay::props {

template <typename Seen>
bool Verifier::asks() const {
  return std::ranges::any_of(
      properties_, [](const Property* p) { return std::holds_alternative<Check<Seen>>(p->check); });
}

Verifier::Verifier(std::vector<const Property*> properties, Context context)
    : properties_(std::move(properties)),
      asks_firings_(asks<uop::RuleSeen>()),
      asks_passes_(asks<uop::PassSeen>()),
      context_(context) {}

template <typename Seen>
void Verifier::judge(const Seen& seen, const void* what, uop::Ref before, uop::Ref after,
                     const std::string& subject) {
  context_.firings = &firings_;
  const uop::Key from = uop::key(seen.graph, before);
  const uop::Key to = uop::key(seen.graph, after);
  for (const Property* property : properties_) {
    const auto* check = std::get_if<Check<Seen>>(&property->check);
    if (check == nullptr) continue;
    const auto [at, is_new] = known_.try_emplace(Subject{property, what, from, to});
    if (is_new) at->second = (*check)(seen, context_);
    judgements_.push_back({property->name, subject, at->second});
  }
}

void Verifier::seen(const uop::RuleSeen& seen) {
  if (!asks_firings_) return;
  judge(seen, &seen.rule, seen.before, seen.after, uop::full_name(seen.set, seen.rule));
}

void Verifier::seen(const uop::PassSeen& seen) {
  if (!asks_passes_) return;
  judge(seen, &seen.pass, seen.before, seen.after,
        kernel_.empty() ? std::string(seen.pass.name)
                        : fmt::format("{} of {}", seen.pass.name, kernel_));
}

void Verifier::seen(const schedule::CacheSeen& seen) {
  if (seen.linear == nullptr) return;
  // What is served now may be another than what was judged before.
  judge(seen, nullptr, seen.sink, seen.linear, fmt::format("schedule {}", schedules_));
}

// A refusal is judged as well: it says that no order is right.
void Verifier::seen(const schedule::ScheduleSeen& seen) {
  const uop::Ref after = seen.linear == nullptr ? seen.kernels : seen.linear;
  judge(seen, nullptr, seen.kernels, after, fmt::format("schedule {}", schedules_));
  ++schedules_;
}

void Verifier::seen(const schedule::PlanSeen& seen) {
  judge(seen, nullptr, seen.linear, seen.planned, fmt::format("plan {}", plans_));
  ++plans_;
}

void Verifier::seen(const codegen::KernelSeen& seen) {
  judge(seen, &context_.target, seen.kernel, seen.linear, kernel_);
}

std::vector<Judgement> Verifier::take() {
  schedules_ = 0;
  plans_ = 0;
  return std::exchange(judgements_, {});
}

}  // namespace assay::props
