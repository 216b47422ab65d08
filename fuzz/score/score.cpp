#include "fuzz/score/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "engine/uop/rule.h"
#include "fuzz/fault/mutants.h"
#include "fuzz/score/score_cases.h"
#include "fuzz/score/score_scout.h"
#include "fuzz/trial/term_trial.h"

namespace assay::fuzz {
namespace {

// Mutants show in terms rather than in programs. After so many cases without a finding a mutant is
// put to the prover; one that it refutes is found, and looked for in some cases more.
constexpr int64_t kTermsACase = 128;
constexpr int64_t kCasesBeforeProof = 8;
constexpr int64_t kCasesBesideProof = 48;
constexpr int64_t kLimitMs = 10'000;  // of what a device is given at once
// A question of many is given up soon: there are other cases.
constexpr smt::Budget kBudget = {.first_points = 1 << 14,
                                 .last_points = 1 << 14,
                                 .solver_steps = 200'000,
                                 .cvc5_steps = 10'000,
                                 .watchdog_ms = 500};

// Of a mutant it is the one question.
constexpr smt::Budget kProofBudget = {.watchdog_ms = 3'000};

constexpr const char* kPocl = "cl:pocl-basic";
constexpr const char* kOclgrind = "cl:oclgrind";

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The rule that fires most often.
class Busiest : public uop::Watch {
 public:
  using Watch::seen;
  void seen(const uop::RuleSeen& seen) override { firings_[uop::full_name(seen.set, seen.rule)]++; }
  std::string rule() const {
    const auto at =
        std::ranges::max_element(firings_, {}, [](const auto& firing) { return firing.second; });
    return at == firings_.end() ? "" : at->first;
  }

 private:
  std::map<std::string, int64_t> firings_;
};

bool is_text(const Fault& fault) { return std::holds_alternative<Text>(fault.how); }

// Where a fault can show: text is compiled by drivers only.
std::vector<std::string> devices_of(const Fault& fault) {
  // Oclgrind sees more, and takes longer.
  if (is_text(fault)) return {kPocl, kPocl, kOclgrind};
  return {"sim:0", "sim:random", "sim:adversary"};
}

TrialOptions trial_options(const ScoreOptions& options,
                           std::span<const runtime::DeviceKind* const> kinds) {
  TrialOptions how;
  how.kinds = kinds;
  how.properties = options.properties;
  how.limit_ms = kLimitMs;
  how.prover.budget = kBudget;
  return how;
}

// Text that drivers get is looked at first on machines that are like theirs: what compiles it takes
// a hundred times as long.
class Scouting {
 public:
  Scouting(const Fault& fault, const ScoreOptions& options)
      : fault_(fault), trial_(scout_options(options)) {}

  bool shows_in(Case c) {
    c.device = "like:" + c.device;
    const uop::Target* target = target_of(c);
    if (target == nullptr) return true;
    TextScout scout(fault_, *target);
    (void)trial_.run(c, {}, &scout);
    return scout.changes() != 0;
  }

 private:
  TrialOptions scout_options(const ScoreOptions& options) {
    kinds_.assign(options.kinds.begin(), options.kinds.end());
    kinds_.push_back(&scout_kind());
    TrialOptions how = trial_options(options, kinds_);
    how.properties = {};
    how.stages = false;
    return how;
  }
  const uop::Target* target_of(const Case& c) {
    const auto [at, is_new] = devices_.try_emplace(c.device + " " + c.profile);
    if (is_new) {
      Result<std::unique_ptr<runtime::Device>> device =
          runtime::open_device(kinds_, c.device, open_options(c));
      if (device.ok()) at->second = std::move(device).value();
    }
    return at->second == nullptr ? nullptr : &at->second->target();
  }

  std::vector<const runtime::DeviceKind*> kinds_;
  std::map<std::string, std::unique_ptr<runtime::Device>> devices_;
  const Fault& fault_;
  Trial trial_;
};

// Who says so: a driver by its name, what a device itself refuses is of its machine.
std::string judge_name(const Finding& f, const Case& c) {
  if (f.stage == "device" && c.device.starts_with("cl:")) return c.device.substr(3);
  if (f.stage == "device" && f.evidence.starts_with("device: ")) return "machine";
  return f.judge;
}

void add_judge(Scored& s, const std::string& name) {
  const auto at = std::ranges::lower_bound(s.judges, name);
  if (at == s.judges.end() || *at != name) s.judges.insert(at, name);
}

// One fault, looked for.
class Search {
 public:
  Search(const Fault& fault, const ScoreOptions& options)
      : fault_(fault),
        options_(options),
        cases_(options.corpus, options.seed, devices_of(fault)),
        trial_(trial_options(options, options.kinds)) {
    s_.name = fault.name;
    s_.of = fault.of;
  }

  Scored run(int64_t first, const ScoreProgress& progress) {
    const Clock::time_point start = Clock::now();
    s_.tried = first;
    const auto is_over = [&] {
      return s_.is_found || s_.tried >= options_.cases || since(start) >= options_.seconds;
    };
    while (!is_over()) {
      if (progress) progress(s_);
      const int64_t number = s_.tried++;
      is_reached_ = false;
      if (!fault_.is_rule() || !found_by_term(number)) try_case(cases_.make(number));
      s_.live += is_reached_ ? 1 : 0;
      if (s_.is_found || !is_of_table(fault_)) continue;
      if (s_.tried == kCasesBeforeProof) {
        ask_prover();
        proof_seconds_ = since(start);
      }
      const bool is_known = !refuted_.empty() && s_.tried >= kCasesBesideProof;
      if (is_known || !s_.no_fault.empty()) break;
    }
    s_.seconds = since(start);
    conclude(progress);
    return std::move(s_);
  }

  void try_again(int64_t number, const Fault* planted_fault, uop::Watch& watch) {
    std::optional<Planted> planted;
    if (planted_fault != nullptr) planted.emplace(*planted_fault);
    Watches watches({planted ? &*planted : nullptr, &watch});
    const uop::Switches switches = planted ? planted->switches() : uop::Switches();
    if (fault_.is_rule()) {
      for (int64_t k = 0; k < kTermsACase; k++) (void)tried_term(number, k, switches, &watches);
    }
    const Case c = cases_.make(number);
    for (const Case& one : {c, on_others(c)}) (void)trial_.run(one, switches, &watches);
  }

 private:
  std::optional<Finding> tried_term(int64_t number, int64_t k, const uop::Switches& switches,
                                    uop::Watch* watch) {
    uop::Graph g;
    Choices choices((options_.seed * 1'000'003 + static_cast<uint64_t>(number)) * kTermsACase +
                    static_cast<uint64_t>(k));
    return try_term(g, make_term(g, choices), switches, watch);
  }

  // Of a rule alone: terms are cases as well.
  bool found_by_term(int64_t number) {
    for (int64_t k = 0; k < kTermsACase; k++) {
      Planted planted(fault_);
      const std::optional<Finding> finding = tried_term(number, k, planted.switches(), &planted);
      is_reached_ = is_reached_ || planted.changes() != 0;
      if (!finding || planted.changes() == 0 || finding->stage == "twice") continue;
      if (tried_term(number, k, {}, nullptr)) continue;
      s_.is_found = true;
      s_.findings = {*finding};
      add_judge(s_, finding->judge);
      blame_rule(number, k);
      return true;
    }
    return false;
  }

  // The rule that fired wrongly, or the one that goes round in a circle.
  void blame_rule(int64_t number, int64_t k) {
    s_.blame.stage = "rule";
    s_.blame.rule = s_.findings[0].stage;
    s_.blame.title = s_.findings[0].evidence;
    if (s_.blame.rule != "circle") return;
    Planted planted(fault_);
    Busiest busiest;
    Watches watches({&planted, &busiest});
    (void)tried_term(number, k, planted.switches(), &watches);
    s_.blame.rule = busiest.rule();
  }

  // What a case reaches and does not show is tried on other numbers, and text by the other driver.
  void try_case(const Case& c) {
    if (is_text(fault_)) {
      if (scouting_ == nullptr) scouting_ = std::make_unique<Scouting>(fault_, options_);
      if (!scouting_->shows_in(c)) return;
    }
    try_one(c);
    if (!s_.is_found && is_reached_) try_one(on_others(c));
  }

  // On other numbers, and on the other driver where there are two.
  Case on_others(const Case& c) const {
    Case other = with_extremes(c, c.seed);
    return is_text(fault_) ? on_other_driver(std::move(other)) : other;
  }
  static Case on_other_driver(Case c) {
    c.device = c.device == kOclgrind ? kPocl : kOclgrind;
    return c;
  }

  void try_one(const Case& c) {
    Planted planted(fault_);
    Outcome outcome = trial_.run(c, planted.switches(), &planted);
    is_reached_ = is_reached_ || planted.changes() != 0;
    s_.unknown += outcome.unknown.empty() ? 0 : 1;
    const bool is_malformed = !outcome.malformed.empty() && planted.changes() == 0;
    if (is_malformed || outcome.findings.empty()) return;
    const Outcome without = trial_.run(c);
    if (!without.findings.empty()) {
      s_.refused = fmt::format("{}\n{}", without.findings[0].evidence, to_text(c));
      return;
    }
    s_.is_found = true;
    s_.witness = to_text(c);
    case_ = c;
    s_.findings = std::move(outcome.findings);
    for (const Finding& f : s_.findings) add_judge(s_, judge_name(f, c));
  }

  void ask_prover() {
    smt::Prover prover({.budget = kProofBudget});
    RuleAnswer answer = proof_of(fault_, prover);
    if (answer.is_true)
      s_.no_fault = std::move(answer.evidence);
    else if (answer.is_refuted)
      refuted_ = std::move(answer.evidence);
  }

  // What dear properties say of the witness, and other devices, beside those who found it.
  void add_all_judges() {
    std::vector<Case> cases = {case_};
    if (is_text(fault_)) {
      cases.push_back(on_other_driver(case_));
    } else {
      cases[0].seed |= trial_.options().dear_every - 1;
    }
    for (const Case& c : cases) {
      Planted planted(fault_);
      const Outcome outcome = trial_.run(c, planted.switches(), &planted);
      for (const Finding& f : outcome.findings) add_judge(s_, judge_name(f, c));
    }
  }

  void conclude(const ScoreProgress& progress) {
    if (!s_.is_found && !refuted_.empty()) {
      s_.is_found = s_.is_by_proof = s_.is_blamed_right = true;
      s_.seconds = proof_seconds_;
      s_.judges = {"proof"};
      s_.findings = {{"proof", fault_.blame, "value", refuted_}};
      s_.blame.stage = "rule";
      s_.blame.rule = fault_.blame;
      s_.blame.title = refuted_;
      return;
    }
    if (!s_.is_found) {
      const bool is_equivalent = s_.live == 0 && fault_.note.starts_with("equivalent");
      if (is_equivalent) s_.no_fault = fmt::format("{}; {} cases", fault_.note, s_.tried);
      if (s_.no_fault.empty()) s_.why = reason(s_, fault_);
      return;
    }
    if (progress) progress(s_);
    const Clock::time_point start = Clock::now();
    if (!s_.witness.empty()) {
      Planted planted(fault_);
      s_.blame = bisect(case_, s_.findings[0], options_.kinds, planted.switches(), &planted);
      s_.blame_seconds = since(start);
      s_.is_blamed_right = names(s_.blame, fault_);
      if (s_.blame.is_walked) add_judge(s_, "stages");
      if (progress) progress(s_);
      add_all_judges();
    }
    s_.is_blamed_right = names(s_.blame, fault_);
  }

  const Fault& fault_;
  const ScoreOptions& options_;
  ScoreCases cases_;
  Trial trial_;
  std::unique_ptr<Scouting> scouting_;
  Scored s_;
  bool is_reached_ = false;  // by the case that is tried
  Case case_;                // the witness
  std::string refuted_;      // an instance of a mutant that changes a value
  double proof_seconds_ = 0;
};

}  // namespace

bool names(const Blame& blame, const Fault& fault) {
  return blame.rule == fault.blame || blame.pass == fault.blame || blame.stage == fault.blame;
}

Case case_of(const Fault& fault, const ScoreOptions& options, int64_t number) {
  return ScoreCases(options.corpus, options.seed, devices_of(fault)).make(number);
}

std::string reason(const Scored& s, const Fault& fault) {
  const std::string counts = fmt::format("{} cases in {:.0f} s", s.tried, s.seconds);
  std::string why =
      s.live == 0 ? fmt::format("no case reached it ({})", counts)
      : s.unknown != 0
          ? fmt::format("{} cases reached it, and of {} something is unknown ({})", s.live,
                        s.unknown, counts)
          : fmt::format("{} cases reached it, and nothing came out wrong ({})", s.live, counts);
  if (!fault.note.empty()) why += fmt::format("; {}", fault.note);
  return why;
}

Scored score(const Fault& fault, const ScoreOptions& options, int64_t first,
             const ScoreProgress& progress) {
  return Search(fault, options).run(first, progress);
}

void try_again(const Fault& fault, const ScoreOptions& options, int64_t number, bool is_planted,
               uop::Watch& watch) {
  Search(fault, options).try_again(number, is_planted ? &fault : nullptr, watch);
}

}  // namespace assay::fuzz
