#include "props/verifier.h"

#include <fmt/format.h>

#include <utility>

#include "engine/uop/pass.h"
#include "engine/uop/rule.h"

namespace assay::props {

template <typename Seen>
void Verifier::judge(const Seen& seen, const void* what, uop::Key before, uop::Key after,
                     const std::string& subject) {
  context_.firings = &firings_;
  for (const Property* property : properties_) {
    const auto* check = std::get_if<Check<Seen>>(&property->check);
    if (check == nullptr) continue;
    const auto [at, is_new] = known_.try_emplace(Subject{property, what, before, after});
    if (is_new) at->second = (*check)(seen, context_);
    judgements_.push_back({property->name, subject, at->second});
  }
}

void Verifier::seen(const uop::RuleSeen& seen) {
  judge(seen, &seen.rule, uop::key(seen.graph, seen.before), uop::key(seen.graph, seen.after),
        uop::full_name(seen.set, seen.rule));
}

void Verifier::seen(const uop::PassSeen& seen) {
  judge(seen, &seen.pass, uop::key(seen.graph, seen.before), uop::key(seen.graph, seen.after),
        kernel_.empty() ? std::string(seen.pass.name)
                        : fmt::format("{} of {}", seen.pass.name, kernel_));
}

void Verifier::seen(const schedule::CacheSeen& seen) {
  if (seen.linear == nullptr) return;
  // What is served now may be another than what was judged before.
  judge(seen, nullptr, uop::key(seen.graph, seen.sink), uop::key(seen.graph, seen.linear),
        fmt::format("schedule {}", schedules_));
}

// A refusal is judged as well: it says that no order is right.
void Verifier::seen(const schedule::ScheduleSeen& seen) {
  const uop::Ref after = seen.linear == nullptr ? seen.kernels : seen.linear;
  judge(seen, nullptr, uop::key(seen.graph, seen.kernels), uop::key(seen.graph, after),
        fmt::format("schedule {}", schedules_));
  ++schedules_;
}

void Verifier::seen(const schedule::PlanSeen& seen) {
  judge(seen, nullptr, uop::key(seen.graph, seen.linear), uop::key(seen.graph, seen.planned),
        fmt::format("plan {}", plans_));
  ++plans_;
}

void Verifier::seen(const codegen::KernelSeen& seen) {
  judge(seen, &context_.target, uop::key(seen.graph, seen.kernel),
        uop::key(seen.graph, seen.linear), kernel_);
}

std::vector<Judgement> Verifier::take() {
  schedules_ = 0;
  plans_ = 0;
  return std::exchange(judgements_, {});
}

}  // namespace assay::props
