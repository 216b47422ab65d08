#include "fuzz/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/codegen/seen.h"
#include "engine/render/seen.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/profiles.h"
#include "engine/runtime/seen.h"
#include "engine/schedule/seen.h"
#include "engine/uop/pass.h"
#include "fuzz/shares_local.h"
#include "oracles/check.h"
#include "oracles/workgroup/finding.h"
#include "props/verifier.h"

namespace assay::fuzz {
namespace {

using oracles::Answer;

// Properties that cost more than a case are asked of one in so many, by the case's seed.
constexpr uint64_t kDearEvery = 64;

// What a compilation shows beside what properties judge.
class Observer : public uop::Watch {
 public:
  using Watch::seen;
  void seen(const codegen::KernelSeen& seen) override {
    kernels++;
    sharing += shares_local(seen.linear) ? 1 : 0;
  }
  void seen(const uop::PassSeen& seen) override {
    if (!seen.breach || breach) return;
    breach = {"spec", std::string(seen.pass.name), "breach",
              fmt::format("pass {} broke its spec: {}", seen.pass.name, *seen.breach)};
  }

  int64_t kernels = 0;
  int64_t sharing = 0;
  std::optional<Finding> breach;  // the first
};

// A fault of the machine by name, so that a race is told from a divergence; else what is wrong is a
// value.
std::string shape_of(std::string_view evidence) {
  using workgroup::Fault;
  for (const Fault fault : {Fault::Race, Fault::Divergence, Fault::Placement, Fault::Bounds,
                            Fault::Uninitialised, Fault::Misaligned}) {
    if (evidence.find(fmt::format("{}: ", workgroup::to_text(fault))) != std::string_view::npos) {
      return std::string(workgroup::to_text(fault));
    }
  }
  return "value";
}

std::string judge_of(std::string_view stage, std::string_view shape) {
  if (stage == "refusal") return "refusal";
  return shape == "value" ? "reference" : "machine";
}

}  // namespace

bool is_same(const Finding& a, const Finding& b) {
  return a.judge == b.judge && a.stage == b.stage && a.shape == b.shape;
}

struct Trial::Parts {
  // The devices of one way to open them.
  struct Machine {
    Machine(std::span<const runtime::DeviceKind* const> kinds, runtime::OpenOptions options)
        : devices(kinds, std::move(options)), executor(devices) {}
    runtime::Devices devices;
    runtime::Executor executor;
  };

  explicit Parts(TrialOptions how) : options(std::move(how)), prover(options.prover) {}

  // Simulated devices begin anew with each case, so that what they draw does not depend on the
  // cases before; drivers are opened once.
  Machine& machine_of(const Case& c) {
    runtime::OpenOptions open;
    open.profile = c.profile.empty() ? nullptr : runtime::profile(c.profile);
    open.cache = options.opencl_cache;
    open.optimize = false;
    open.seed = c.seed;
    if (options.limit_ms > 0) open.limit_ms = options.limit_ms;
    const std::string key = fmt::format("{} {}", c.device, c.profile);
    if (c.device.starts_with("sim")) machines.erase(key);
    const auto found = machines.find(key);
    if (found != machines.end()) return *found->second;
    return *machines.emplace(key, std::make_unique<Machine>(options.kinds, open)).first->second;
  }

  props::Verifier& verifier_of(const uop::Target& target, bool asks_dear) {
    const std::string key = uop::to_text(target) + (asks_dear ? " all" : "");
    Judged& j = verifiers[key];
    if (j.verifier == nullptr) {
      std::vector<const props::Property*> asked = options.properties;
      if (!asks_dear) std::erase_if(asked, [](const props::Property* p) { return p->is_dear; });
      j.target = std::make_unique<uop::Target>(target);
      j.verifier =
          std::make_unique<props::Verifier>(std::move(asked), props::Context{prover, *j.target, 1});
    }
    return *j.verifier;
  }

  struct Judged {
    std::unique_ptr<uop::Target> target;
    std::unique_ptr<props::Verifier> verifier;
  };
  TrialOptions options;
  smt::Prover prover;
  std::map<std::string, std::unique_ptr<Machine>> machines;
  std::map<std::string, Judged> verifiers;  // by target
};

namespace {

void add_properties(std::vector<props::Judgement> judgements, Outcome& outcome) {
  for (props::Judgement& j : judgements) {
    outcome.obligations += j.checked.obligations;
    for (const auto& [cause, n] : j.checked.by_cause) {
      outcome.unknown[fmt::format("{}: {}", j.property, cause)] += n;
    }
    if (j.checked.verdict.answer != Answer::Fail) continue;
    outcome.findings.push_back(
        {std::string(j.property), j.subject, j.checked.shape,
         fmt::format("{} of {}: {}", j.property, j.subject, j.checked.verdict.evidence),
         std::move(j.checked.evidence)});
  }
}

void add_checked(const oracles::Checked& checked, Outcome& outcome) {
  for (const oracles::Judged& j : checked.judged) {
    outcome.elements += j.comparison.elements();
    outcome.unspecified += j.comparison.unspecified;
    outcome.ambiguous += j.comparison.ambiguous;
  }
  const oracles::Verdict& v = checked.verdict;
  if (checked.malformed) {
    outcome.malformed = checked.refused;
  } else if (v.answer == Answer::Unknown) {
    outcome.unknown["reference: " + v.evidence]++;
  } else if (v.answer == Answer::Fail) {
    const std::string shape = shape_of(v.evidence);
    outcome.findings.push_back(
        {judge_of(checked.failed_at, shape), std::string(checked.failed_at), shape, v.evidence});
  }
}

}  // namespace

Trial::Trial(TrialOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {}
Trial::~Trial() = default;

Outcome Trial::run(const Case& c, const uop::Switches& switches, uop::Watch* watch) {
  Outcome outcome;
  Parts::Machine& machine = parts_->machine_of(c);
  const Result<runtime::Device*> device = machine.devices.open(c.device);
  if (!device.ok()) {
    outcome.malformed = device.error().message;
    return outcome;
  }
  const bool asks_dear = c.seed % kDearEvery == kDearEvery - 1;
  props::Verifier& verifier = parts_->verifier_of(device.value()->target(), asks_dear);
  Observer observer;
  std::vector<uop::Watch*> all = {&verifier, &observer};
  if (watch != nullptr) all.push_back(watch);
  Watches watches(std::move(all));
  oracles::CheckOptions how = {
      .schedule = {.target = device.value()->target(), .switches = switches, .watch = &watches}};
  how.tensor_graph = how.kernels = how.planned = parts_->options.stages;
  how.seed = c.seed;
  how.executor = &machine.executor;
  how.device = c.device;
  how.limit_ms = parts_->options.limit_ms;
  if (!c.opts.empty()) {
    Result<runtime::KernelLists> lists = runtime::lists_from_text(std::vector{c.opts});
    if (!lists.ok()) {
      outcome.malformed = lists.error().message;
      return outcome;
    }
    how.lists = std::move(lists).value();
  }
  const oracles::Checked checked = oracles::check(c.program, how);
  // The nearest to the cause stand first: a broken form, a property, then a wrong value.
  if (observer.breach) outcome.findings.push_back(*observer.breach);
  add_properties(verifier.take(), outcome);
  add_checked(checked, outcome);
  outcome.kernels = observer.kernels;
  outcome.sharing = observer.sharing;
  return outcome;
}

uop::Ref Watches::edit(std::string_view stage, uop::Graph& g, uop::Ref u) {
  for (uop::Watch* w : watches_) u = w->edit(stage, g, u);
  return u;
}
void Watches::edit_source(std::string& text) {
  for (uop::Watch* w : watches_) w->edit_source(text);
}
void Watches::edit_batch(runtime::Batch& batch) {
  for (uop::Watch* w : watches_) w->edit_batch(batch);
}
bool Watches::edits() const {
  return std::ranges::any_of(watches_, [](const uop::Watch* w) { return w->edits(); });
}
void Watches::seen(const uop::RuleSeen& seen) { show(seen); }
void Watches::seen(const uop::PassSeen& seen) { show(seen); }
void Watches::seen(const schedule::CacheSeen& seen) { show(seen); }
void Watches::seen(const schedule::ScheduleSeen& seen) { show(seen); }
void Watches::seen(const schedule::PlanSeen& seen) { show(seen); }
void Watches::seen(const codegen::KernelSeen& seen) { show(seen); }
void Watches::seen(const render::SourceSeen& seen) { show(seen); }
void Watches::seen(const runtime::LaunchSeen& seen) { show(seen); }

}  // namespace assay::fuzz
