#include "fuzz/trial/trial_child.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/trial/json_line.h"
#include "fuzz/trial/outcome_text.h"

namespace assay::fuzz {
namespace {

using Json = nlohmann::ordered_json;

// What is behind a finding may take so many times as long as a case.
constexpr int64_t kInvestigations = 4;

// A process ends when it has served so many cases, so that nothing that it (or a driver) keeps
// grows for ever, on disk neither. One on a driver counts as several.
constexpr int64_t kServed = 8192;
constexpr int64_t kOnDriver = 32;

int64_t cost_of(const Case& c) { return is_simulated(c.device) ? 1 : kOnDriver; }

// The place in our code that a failed check names, which tells one crash from another: "file:line".
std::string place_in(std::string_view said) {
  const size_t end = said.find(": check failed");
  if (end == std::string_view::npos) return "";
  const std::string_view path = said.substr(0, end);
  for (const std::string_view folder : {"/engine/", "/oracles/", "/props/", "/fuzz/"}) {
    const size_t at = path.rfind(folder);
    if (at != std::string_view::npos) return std::string(path.substr(at + 1));
  }
  return std::string(path);
}

}  // namespace

bool is_of_process(const Finding& finding) { return finding.judge == "process"; }

TrialChild::TrialChild(std::vector<std::string> command, std::string log, int64_t limit_ms)
    : process_(std::move(command), std::move(log)), limit_ms_(limit_ms) {}

Outcome TrialChild::lost(std::string_view shape, std::string evidence) {
  const std::string how = process_.stop();
  const std::string said = process_.last_words();
  const std::string place = place_in(said);
  Outcome outcome;
  outcome.findings.push_back(
      {"process", "process",
       place.empty() ? std::string(shape) : fmt::format("{} {}", shape, place),
       fmt::format("{}: it {}{}{}", evidence, how,
                   said.empty() ? "" : "; its last words: ", said)});
  return outcome;
}

// Begins a process anew that would have served too many. One that foresaw cases serves them.
void TrialChild::make_room(int64_t served) {
  if (!process_.is_running()) served_ = foreseen_ = 0;
  if (foreseen_ == 0 && served_ + served > kServed) {
    process_.stop();
    served_ = 0;
  }
}

void TrialChild::foresee(std::span<const Case* const> cases) {
  const int64_t count = std::ssize(cases);
  foreseen_ = 0;
  make_room(count * kOnDriver);
  Json texts = Json::array();
  for (const Case* c : cases) texts.push_back(to_text(*c));
  std::string answer;
  const Result<bool> asked = process_.ask(json_line({{"foresee", texts}}));
  if (asked.ok() && process_.read(answer, count * limit_ms_) == LineProcess::Came::Line) {
    foreseen_ = count * kOnDriver;
  } else {
    process_.stop();
  }
}

Outcome TrialChild::run(const Case& c, bool again) {
  const int64_t costs = cost_of(c);
  make_room(costs);
  served_ += costs;
  foreseen_ = std::max<int64_t>(0, foreseen_ - costs);
  Json request = {{"case", to_text(c)}};
  if (again) request["again"] = true;
  const Result<bool> asked = process_.ask(json_line(request));
  if (!asked.ok()) {
    Outcome outcome;
    outcome.unknown["no process: " + asked.error().message] = 1;
    return outcome;
  }
  std::string answer;
  switch (process_.read(answer, limit_ms_)) {
    case LineProcess::Came::Crash: return lost("crash", "the process ended within the case");
    case LineProcess::Came::Hang:
      return lost("hang", fmt::format("the case took more than {} ms of the processor", limit_ms_));
    case LineProcess::Came::Line: break;
  }
  Result<Outcome> outcome = outcome_from_text(answer);
  if (outcome.ok()) return std::move(outcome).value();
  return lost("crash", fmt::format("the process answered nonsense ({})", outcome.error().message));
}

std::optional<Investigated> TrialChild::investigate(const Case& c, const Finding& finding,
                                                    const std::vector<std::string>& known) {
  const Json request = {{"case", to_text(c)}, {"finding", to_text(finding)}, {"known", known}};
  std::string answer;
  const Result<bool> asked = process_.ask(json_line(request));
  if (asked.ok() && process_.read(answer, kInvestigations * limit_ms_) == LineProcess::Came::Line) {
    Result<Investigated> found = investigated_from_text(answer);
    if (found.ok()) return std::move(found).value();
  }
  process_.stop();
  return std::nullopt;
}

}  // namespace assay::fuzz
