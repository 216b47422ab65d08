#include "fuzz/campaign/serve.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "fuzz/blame/investigate.h"
#include "fuzz/coverage/coverage.h"
#include "fuzz/trial/outcome_text.h"

namespace assay::fuzz {
namespace {

using Json = nlohmann::ordered_json;

// The stages between a program and what devices run are interpreted of one case in so many: what
// is wrong there shows on the device as well, and is found again when it is looked for.
constexpr uint64_t kStagesEvery = 4;

// What costs more than to compile and run a case is asked of one in so many.
constexpr uint64_t kDearEvery = 128;

// A question of many is given up soon: there are other cases, and a case is not to take as long as
// one that hangs.
constexpr smt::Budget kBudget = {.first_points = 1 << 14,
                                 .last_points = 1 << 14,
                                 .solver_steps = 100'000,
                                 .cvc5_steps = 5'000,
                                 .watchdog_ms = 2'000};

class Server {
 public:
  Server(Trial& trial, const uop::Switches& switches, uop::Watch* watch)
      : trial_(trial), switches_(switches), watch_(watch) {}

  // The answer to a request; nothing where it is none.
  std::optional<std::string> answer(const std::string& line) {
    const Json request = Json::parse(line, nullptr, false);
    if (request.is_object() && request.contains("foresee")) return foresee(request["foresee"]);
    if (!request.is_object() || !request.contains("case") || !request["case"].is_string()) {
      return std::nullopt;
    }
    const Result<Case> c = case_from_text(request["case"].get<std::string>());
    if (!c.ok()) {
      Outcome outcome;
      outcome.malformed = to_string(c.error());
      return to_text(outcome);
    }
    if (!request.contains("finding")) {
      return to_text(request.contains("again") ? trial_.run(c.value(), switches_, watch_)
                                               : explored(c.value()));
    }
    const Result<Finding> finding = finding_from_text(request["finding"].get<std::string>());
    if (!finding.ok()) return std::nullopt;
    InvestigateOptions how;
    how.switches = switches_;
    how.watch = watch_;
    for (const Json& cause : request.value("known", Json::array())) how.known.insert(cause);
    return to_text(looked_into(c.value(), finding.value(), how));
  }

 private:
  // What a fault edits is made anew for each case.
  std::string foresee(const Json& texts) {
    const bool is_edited =
        switches_.limit != uop::kNoLimit || (watch_ != nullptr && watch_->edits());
    std::vector<Case> cases;
    for (const Json& text : texts) {
      Result<Case> c = case_from_text(text.get<std::string>());
      if (c.ok() && !is_edited) cases.push_back(std::move(c).value());
    }
    trial_.foresee(cases, switches_);
    return "{}";
  }

  // By those who were asked, and at all stages: what was found on a device shows before.
  Investigated looked_into(const Case& c, const Finding& finding, const InvestigateOptions& how) {
    TrialOptions options = trial_.options();
    options.stages_every = 1;
    const props::Property* by = props::find_property(finding.judge);
    if (by != nullptr && by->is_dear) options.dear_every = 1;
    Trial trial(options);
    const Outcome outcome = trial.run(c, switches_, watch_);
    const auto same = std::ranges::find_if(outcome.findings,
                                           [&](const Finding& f) { return is_same(f, finding); });
    if (same != outcome.findings.end()) return investigate(c, *same, trial, how);
    if (!outcome.findings.empty()) return investigate(c, outcome.findings.front(), trial, how);
    return investigate(c, finding, trial_, how);
  }

  Outcome explored(const Case& c) {
    Watches watches({watch_, &coverage_});
    Outcome outcome = trial_.run(c, switches_, &watches);
    for (const Feature f : coverage_.take()) {
      if (seen_.add({&f, 1}) != 0) outcome.features.push_back(f);
    }
    return outcome;
  }

  Trial& trial_;
  const uop::Switches& switches_;
  uop::Watch* watch_;
  Coverage coverage_;
  Seen seen_;  // by this process; whoever asks knows of it already
};

}  // namespace

TrialOptions campaign_trial(std::span<const runtime::DeviceKind* const> kinds) {
  TrialOptions how;
  how.kinds = kinds;
  how.properties = props::every_property();
  how.stages_every = kStagesEvery;
  how.dear_every = kDearEvery;
  how.prover.budget = kBudget;
  return how;
}

int serve_trials(Trial& trial, const uop::Switches& switches, uop::Watch* watch) {
  Server server(trial, switches, watch);
  for (std::string line; std::getline(std::cin, line);) {
    const std::optional<std::string> answer = server.answer(line);
    if (!answer) return 2;
    std::cout << *answer << std::endl;  // a request waits for it
  }
  return 0;
}

}  // namespace assay::fuzz
