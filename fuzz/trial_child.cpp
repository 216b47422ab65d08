#include "fuzz/trial_child.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include <nlohmann/json.hpp>

#include "fuzz/outcome_text.h"

namespace assay::fuzz {
namespace {

using Json = nlohmann::ordered_json;

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

int serve_trials(Trial& trial) {
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line, nullptr, false);
    if (!request.is_object() || !request.contains("case") || !request["case"].is_string()) return 2;
    const Result<Case> c = case_from_text(request["case"].get<std::string>());
    Outcome outcome;
    if (c.ok()) {
      outcome = trial.run(c.value());
    } else {
      outcome.malformed = to_string(c.error());
    }
    std::cout << to_text(outcome) << std::endl;  // a request waits for it
  }
  return 0;
}

TrialChild::TrialChild(std::vector<std::string> command, std::string log, int64_t limit_ms)
    : command_(std::move(command)), log_(std::move(log)), limit_ms_(limit_ms) {
  command_.insert(command_.end(), {"--log", log_});
}

void TrialChild::stop() {
  child_.stop();
  is_running_ = false;
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

Outcome TrialChild::run(const Case& c) {
  if (!is_running_) {
    Result<runtime::Child> started = runtime::Child::start(command_);
    if (!started.ok()) {
      Outcome outcome;
      outcome.unknown["no process: " + started.error().message] = 1;
      return outcome;
    }
    child_ = std::move(started).value();
    is_running_ = true;
  }
  const Json request = {{"case", to_text(c)}};
  std::string out = request.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::string in;
  const int64_t deadline = runtime::now_ns() + limit_ms_ * 1'000'000;
  while (in.empty() || in.back() != '\n') {
    switch (child_.exchange(out, in, deadline)) {
      case runtime::Child::End::Readable: break;
      case runtime::Child::End::Closed: return lost("crash", "the process ended within the case");
      case runtime::Child::End::Timeout:
        return lost("hang", fmt::format("the case took more than {} ms", limit_ms_));
    }
  }
  in.pop_back();
  Result<Outcome> outcome = outcome_from_text(in);
  if (outcome.ok()) return std::move(outcome).value();
  return lost("crash", fmt::format("the process answered nonsense ({})", outcome.error().message));
}

}  // namespace assay::fuzz
