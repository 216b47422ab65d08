#include "fuzz/trial/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "engine/codegen/seen.h"
#include "engine/render/seen.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/profiles.h"
#include "engine/runtime/seen.h"
#include "engine/schedule/seen.h"
#include "engine/uop/pass.h"
#include "engine/uop/text.h"
#include "fuzz/trial/graph_case.h"
#include "fuzz/trial/movement_trial.h"
#include "fuzz/trial/shares_local.h"
#include "fuzz/trial/term_trial.h"
#include "oracles/check.h"
#include "oracles/kernels/check_kernel.h"
#include "oracles/workgroup/finding.h"
#include "props/firings/stock.h"
#include "props/verifier.h"

namespace assay::fuzz {
namespace {

using oracles::Answer;

// After so many cases, what is known of equal kernels and questions is forgotten.
constexpr int64_t kRemembered = 1024;

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

  // From where a device is given something to where it is done.
  void edit_batch(runtime::Batch&) override { begin_ = runtime::now_ns(); }
  void seen(const runtime::LaunchSeen&) override {
    if (begin_ != 0) run_ns += runtime::now_ns() - begin_;
    begin_ = 0;
  }

  int64_t kernels = 0;
  int64_t sharing = 0;
  int64_t run_ns = 0;
  std::optional<Finding> breach;  // the first

 private:
  int64_t begin_ = 0;
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
        : devices(kinds, std::move(options)) {
      executor.emplace(devices);
    }
    runtime::Devices devices;
    std::optional<runtime::Executor> executor;
  };

  explicit Parts(const TrialOptions& how) : options(how), prover(options.prover) {}

  // Simulated devices begin anew with each case, so that what they draw does not depend on the
  // cases before; drivers are opened once. Kernels are lowered anew for each case, whatever was
  // lowered before.
  Machine& machine_of(const Case& c) {
    runtime::OpenOptions open = open_options(c);
    open.cache = options.opencl_cache;
    open.optimize = false;
    if (options.limit_ms > 0) open.limit_ms = options.limit_ms;
    const std::string key = fmt::format("{} {}", c.device, c.profile);
    if (is_simulated(c.device)) machines.erase(key);
    const auto found = machines.find(key);
    if (found != machines.end()) {
      found->second->executor.emplace(found->second->devices);
      return *found->second;
    }
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

  // The prover stays: its answers are few, and its solvers take long to begin.
  void forget() {
    verifiers.clear();
    machines.clear();
  }

  struct Judged {
    std::unique_ptr<uop::Target> target;
    std::unique_ptr<props::Verifier> verifier;
  };
  const TrialOptions& options;
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

// What a case is run with.
struct Trial::Job {
  const Case* c;
  const uop::Switches* switches;
  Parts::Machine* machine;
  const uop::Target* target;
  runtime::KernelLists lists;
};

runtime::OpenOptions open_options(const Case& c) {
  runtime::OpenOptions open;
  open.profile = c.profile.empty() ? nullptr : runtime::profile(c.profile);
  open.seed = c.seed;
  return open;
}

Trial::Trial(TrialOptions options)
    : options_(std::move(options)), parts_(std::make_unique<Parts>(options_)) {}
Trial::~Trial() = default;

Outcome Trial::run(const Case& c, const uop::Switches& switches, uop::Watch* watch) {
  // What is remembered from case to case would grow for ever.
  if (++cases_ % kRemembered == 0) parts_->forget();
  Outcome outcome;
  if (is_terms(c)) {
    run_terms(c, switches, watch, outcome);
    return outcome;
  }
  const Result<Job> made = job_of(c, switches);
  if (!made.ok()) {
    outcome.malformed = made.error().message;
    return outcome;
  }
  const Job& job = made.value();
  const bool asks_dear = c.seed % options_.dear_every == options_.dear_every - 1;
  props::Verifier& verifier = parts_->verifier_of(*job.target, asks_dear);
  Observer observer;
  Watches watches({&verifier, &observer, watch});
  if (c.is_program()) {
    run_program(job, watches, outcome);
  } else {
    run_kernel(job, watches, outcome);
  }
  // The nearest to the cause stand first: a broken form, a property, then a wrong value.
  std::vector<Finding> values = std::move(outcome.findings);
  outcome.findings.clear();
  if (observer.breach) outcome.findings.push_back(*observer.breach);
  add_properties(verifier.take(), outcome);
  std::ranges::move(values, std::back_inserter(outcome.findings));
  outcome.kernels = observer.kernels;
  outcome.sharing = observer.sharing;
  outcome.spent["run"] = observer.run_ns;
  outcome.spent["properties"] = watches.spent()[0];
  if (watch != nullptr) outcome.spent["coverage"] = watches.spent()[2];
  outcome.spent["compile"] -=
      observer.run_ns + std::accumulate(watches.spent().begin(), watches.spent().end(), int64_t{0});
  return outcome;
}

// An error is why it is no case.
Result<Trial::Job> Trial::job_of(const Case& c, const uop::Switches& switches) {
  Parts::Machine& machine = parts_->machine_of(c);
  ASSAY_TRY(device, machine.devices.open(c.device));
  Job job = {&c, &switches, &machine, &device->target(), {}};
  if (!c.opts.empty()) {
    ASSAY_TRY(lists, runtime::lists_from_text(std::vector{c.opts}));
    job.lists = std::move(lists);
  }
  return job;
}

oracles::CheckOptions Trial::program_options(const Job& job, uop::Watch& watch) const {
  oracles::CheckOptions how = {
      .schedule = {
          .target = *job.target, .switches = *job.switches, .watch = &watch, .cache = nullptr}};
  how.tensor_graph = how.kernels = how.planned =
      options_.stages && job.c->seed % options_.stages_every == 0;
  how.seed = job.c->seed;
  how.executor = &*job.machine->executor;
  how.device = job.c->device;
  how.limit_ms = options_.limit_ms;
  how.lists = job.lists;
  return how;
}

oracles::KernelOptions Trial::kernel_options(const Job& job, uop::Watch& watch) const {
  oracles::KernelOptions how;
  how.seed = job.c->seed;
  how.executor = &*job.machine->executor;
  how.device = job.c->device;
  how.lists = job.lists;
  how.switches = *job.switches;
  how.watch = &watch;
  how.limit_ms = options_.limit_ms;
  return how;
}

void Trial::foresee(std::span<const Case> cases, const uop::Switches& switches) {
  uop::Watch nobody;  // what breaks its spec here is for the trial to find
  for (const Case& c : cases) {
    if (is_terms(c) || is_simulated(c.device)) continue;
    const Result<Job> job = job_of(c, switches);
    if (!job.ok()) continue;
    if (c.is_program()) {
      oracles::foresee(c.program, program_options(job.value(), nobody));
      continue;
    }
    uop::Graph g;
    const Result<uop::Parsed> parsed = uop::from_text(g, c.graph);
    if (!parsed.ok()) continue;
    (void)oracles::foresee_kernel(g, parsed.value().root, kernel_options(job.value(), nobody));
  }
  for (const auto& [name, machine] : parts_->machines) {
    for (const std::unique_ptr<runtime::Device>& device : machine->devices.all()) {
      device->make_foreseen();
    }
  }
}

void Trial::run_program(const Job& job, uop::Watch& watch, Outcome& outcome) {
  const oracles::Checked checked = oracles::check(job.c->program, program_options(job, watch));
  add_checked(checked, outcome);
  outcome.spent["reference"] = checked.spent.reference;
  outcome.spent["stages"] = checked.spent.interpret;
  outcome.spent["compare"] = checked.spent.compare;
  outcome.spent["compile"] = checked.spent.compile + checked.spent.execute;
}

void Trial::run_kernel(const Job& job, uop::Watch& watch, Outcome& outcome) {
  const int64_t begin = runtime::now_ns();
  uop::Graph g;
  const Result<uop::Parsed> parsed = uop::from_text(g, job.c->graph);
  if (!parsed.ok()) {
    outcome.malformed = to_string(parsed.error());
    return;
  }
  const Result<oracles::KernelChecked> checked =
      oracles::check_kernel(g, parsed.value().root, kernel_options(job, watch));
  outcome.spent["compile"] = runtime::now_ns() - begin;
  if (!checked.ok()) {
    outcome.malformed = to_string(checked.error());
    return;
  }
  const oracles::Verdict& v = checked.value().verdict;
  for (const oracles::KernelArgument& a : checked.value().arguments) {
    outcome.elements += std::ssize(a.bytes) / uop::bytes_of(a.dtype);
  }
  if (v.answer == Answer::Unknown) {
    outcome.unknown["kernel: results may differ"]++;
  } else if (v.answer == Answer::Fail) {
    const std::string shape = shape_of(v.evidence);
    const std::string judge = shape == "value" ? "interpreter" : "machine";
    outcome.findings.push_back({judge, "device", shape, v.evidence});
  }
}

void Trial::run_terms(const Case& c, const uop::Switches& switches, uop::Watch* watch,
                      Outcome& outcome) {
  const int64_t begin = runtime::now_ns();
  for (const std::string_view text : graphs_of(c)) {
    uop::Graph g;
    const Result<uop::Parsed> parsed = uop::from_text(g, text);
    if (!parsed.ok()) {
      outcome.malformed = to_string(parsed.error());
      return;
    }
    const uop::Ref root = parsed.value().root;
    std::optional<Finding> found =
        uop::is_movement(root->op) ? try_movement(g, root, {parts_->prover, props::stock_target()},
                                                  outcome.unknown, switches, watch)
                                   : try_term(g, root, switches, watch);
    if (!found) continue;
    found->files.push_back({"term.uop", std::string(text)});
    outcome.findings.push_back(std::move(*found));
  }
  outcome.spent["rules"] = runtime::now_ns() - begin;
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
void Watches::seen(const uop::RuleSeen& seen) {
  for (uop::Watch* w : watches_) w->seen(seen);
}
void Watches::seen(const uop::PassSeen& seen) { show(seen); }
void Watches::seen(const schedule::CacheSeen& seen) { show(seen); }
void Watches::seen(const schedule::ScheduleSeen& seen) { show(seen); }
void Watches::seen(const schedule::PlanSeen& seen) { show(seen); }
void Watches::seen(const codegen::KernelSeen& seen) { show(seen); }
void Watches::seen(const render::SourceSeen& seen) { show(seen); }
void Watches::seen(const runtime::LaunchSeen& seen) { show(seen); }

}  // namespace assay::fuzz
