#include "fuzz/trial_child.h"

#include <fmt/format.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "fuzz/outcome_text.h"

namespace assay::fuzz {
namespace {

using Json = nlohmann::ordered_json;

// What is behind a finding may take so many times as long as a case.
constexpr int64_t kInvestigations = 4;

// A process ends when it has served so many cases, so that nothing that it (or a driver) keeps
// grows for ever, on disk neither. One on a driver counts as several.
constexpr int64_t kServed = 8192;
constexpr int64_t kOnDriver = 32;

// The last line that a process said before it ended: why, if it knew.
std::string last_line(const std::string& log) {
  std::ifstream in(log);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

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
    : command_(std::move(command)), log_(std::move(log)), limit_ms_(limit_ms) {
  command_.insert(command_.end(), {"--log", log_});
}

Outcome TrialChild::lost(std::string_view shape, std::string evidence) {
  const std::string how = child_.stop();
  is_running_ = false;
  const std::string said = last_line(log_);
  const std::string place = place_in(said);
  Outcome outcome;
  outcome.findings.push_back(
      {"process", "process",
       place.empty() ? std::string(shape) : fmt::format("{} {}", shape, place),
       fmt::format("{}: it {}{}{}", evidence, how,
                   said.empty() ? "" : "; its last words: ", said)});
  return outcome;
}

TrialChild::Came TrialChild::ask(const std::string& request, int64_t limit_ms,
                                 std::string& answer) {
  if (!is_running_) {
    Result<runtime::Child> started = runtime::Child::start(command_, true);
    if (!started.ok()) {
      answer = started.error().message;
      return Came::NoProcess;
    }
    child_ = std::move(started).value();
    is_running_ = true;
    served_ = 0;
  }
  std::string out = request + "\n";
  std::string in;
  const int64_t deadline = runtime::now_ns() + limit_ms * 1'000'000;
  while (in.empty() || in.back() != '\n') {
    switch (child_.exchange(out, in, deadline)) {
      case runtime::Child::End::Readable: break;
      case runtime::Child::End::Closed: return Came::Crash;
      case runtime::Child::End::Timeout: return Came::Hang;
    }
  }
  in.pop_back();
  answer = std::move(in);
  return Came::Answer;
}

Outcome TrialChild::run(const Case& c, bool again) {
  served_ += c.device.starts_with("sim") ? 1 : kOnDriver;
  if (is_running_ && served_ > kServed) {
    child_.stop();
    is_running_ = false;
  }
  Json request = {{"case", to_text(c)}};
  if (again) request["again"] = true;
  std::string answer;
  switch (ask(request.dump(-1, ' ', false, Json::error_handler_t::replace), limit_ms_, answer)) {
    case Came::Crash: return lost("crash", "the process ended within the case");
    case Came::Hang: return lost("hang", fmt::format("the case took more than {} ms", limit_ms_));
    case Came::NoProcess: {
      Outcome outcome;
      outcome.unknown["no process: " + answer] = 1;
      return outcome;
    }
    case Came::Answer: break;
  }
  Result<Outcome> outcome = outcome_from_text(answer);
  if (outcome.ok()) return std::move(outcome).value();
  return lost("crash", fmt::format("the process answered nonsense ({})", outcome.error().message));
}

std::optional<Investigated> TrialChild::investigate(const Case& c, const Finding& finding,
                                                    const std::vector<std::string>& known) {
  const Json request = {{"case", to_text(c)}, {"finding", to_text(finding)}, {"known", known}};
  std::string answer;
  const std::string text = request.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (ask(text, kInvestigations * limit_ms_, answer) == Came::Answer) {
    Result<Investigated> found = investigated_from_text(answer);
    if (found.ok()) return std::move(found).value();
  }
  child_.stop();
  is_running_ = false;
  return std::nullopt;
}

}  // namespace assay::fuzz
