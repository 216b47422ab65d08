#include "fuzz/score/score_child.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <iostream>

#include "engine/uop/rule.h"
#include "fuzz/trial/json_line.h"
#include "fuzz/trial/outcome_text.h"

namespace assay::fuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kSilence = 20'000;  // ms of work without a word, after which a process hangs
constexpr int kTimesLost = 3;         // a case is tried again on which a process was lost

Json json_of(const Blame& blame) {
  Json j = Json::parse(to_text(blame));
  j["walked"] = blame.is_walked;
  return j;
}

Blame blame_of(const Json& j) {
  Blame blame = blame_from_text(json_line(j)).value();
  blame.is_walked = j.at("walked");
  return blame;
}

Json json_of(const Scored& s) {
  Json findings = Json::array();
  for (const Finding& f : s.findings) findings.push_back(to_text(f));
  return {{"found", s.is_found},
          {"by_proof", s.is_by_proof},
          {"no_fault", s.no_fault},
          {"tried", s.tried},
          {"live", s.live},
          {"unknown", s.unknown},
          {"seconds", s.seconds},
          {"blame_seconds", s.blame_seconds},
          {"witness", s.witness},
          {"findings", findings},
          {"judges", s.judges},
          {"blame", json_of(s.blame)},
          {"blamed_right", s.is_blamed_right},
          {"refused", s.refused},
          {"why", s.why}};
}

Scored scored_of(const Json& j, const Fault& fault) {
  Scored s;
  s.name = fault.name;
  s.of = fault.of;
  s.is_found = j.at("found");
  s.is_by_proof = j.at("by_proof");
  s.no_fault = j.at("no_fault");
  s.tried = j.at("tried");
  s.live = j.at("live");
  s.unknown = j.at("unknown");
  s.seconds = j.at("seconds");
  s.blame_seconds = j.at("blame_seconds");
  s.witness = j.at("witness");
  for (const Json& f : j.at("findings")) {
    Result<Finding> finding = finding_from_text(f.get<std::string>());
    if (finding.ok()) s.findings.push_back(std::move(finding).value());
  }
  s.judges = j.at("judges").get<std::vector<std::string>>();
  s.blame = blame_of(j.at("blame"));
  s.is_blamed_right = j.at("blamed_right");
  s.refused = j.at("refused");
  s.why = j.at("why");
  return s;
}

void say(const Json& j) { std::cout << json_line(j) << std::endl; }

// Says where a case is, so that the last words of a process name what was made last.
class Trail : public uop::Watch {
 public:
  uop::Ref edit(std::string_view stage, uop::Graph&, uop::Ref u) override {
    say({{"at", std::string(stage)}});
    return u;
  }
  // Text is made for drivers alone, which run what they are given themselves.
  void edit_source(std::string&) override {
    is_text_ = true;
    say({{"at", "render"}});
  }
  void edit_batch(runtime::Batch&) override {
    if (!is_text_) say({{"at", "run"}});
  }
  bool edits() const override { return true; }
  using Watch::seen;
  void seen(const uop::RuleSeen& seen) override {
    say({{"fired", uop::full_name(seen.set, seen.rule)}});
  }

 private:
  bool is_text_ = false;
};

// What a fault makes grow without end comes to an end.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)
  constexpr rlim_t kBytes = rlim_t{8} << 30;
  const rlimit limit = {kBytes, kBytes};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

}  // namespace

int serve_scores(const std::vector<Fault>& faults, const ScoreOptions& options) {
  limit_memory();
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line, nullptr, false);
    if (!request.is_object() || !request.contains("fault")) return 2;
    const auto fault = std::ranges::find(faults, request["fault"].get<std::string>(), &Fault::name);
    if (fault == faults.end()) return 2;
    if (request.contains("case")) {
      Trail trail;
      try_again(*fault, options, request["case"].get<int64_t>(), request["planted"].get<bool>(),
                trail);
      say({{"done", json_of(Scored())}});
      continue;
    }
    const Scored scored = score(*fault, options, request["first"].get<int64_t>(),
                                [](const Scored& s) { say({{"so_far", json_of(s)}}); });
    say({{"done", json_of(scored)}});
  }
  return 0;
}

ScoreChild::ScoreChild(std::vector<std::string> command, const ScoreOptions& options)
    : process_(std::move(command)), options_(options) {}

ScoreChild::Answer ScoreChild::lost(Answer answer, std::string_view shape) {
  answer.shape = shape;
  answer.how = process_.stop();
  if (const std::string said = process_.last_words(); !said.empty()) {
    answer.how += "; it said: " + said;
  }
  return answer;
}

ScoreChild::Answer ScoreChild::ask(const std::string& request) {
  Answer answer;
  if (const Result<bool> asked = process_.ask(request); !asked.ok()) {
    answer.how = asked.error().message;
    return answer;
  }
  for (std::string line;;) {
    switch (process_.read(line, kSilence)) {
      case LineProcess::Came::Crash: return lost(std::move(answer), "crash");
      case LineProcess::Came::Hang: return lost(std::move(answer), "hang");
      case LineProcess::Came::Line: break;
    }
    const Json said = Json::parse(line, nullptr, false);
    if (!said.is_object()) return lost(std::move(answer), "crash");
    if (said.contains("at")) answer.at = said["at"], answer.fired.clear();
    if (said.contains("fired")) answer.fired = said["fired"];
    if (said.contains("so_far")) answer.said = said["so_far"].dump();
    if (!said.contains("done")) continue;
    answer.said = said["done"].dump();
    answer.is_done = true;
    return answer;
  }
}

// Whether the case on which a process was lost is lost again with the fault, and without it. What a
// fault does to the memory of a driver does not end a process each time.
ScoreChild::Loss ScoreChild::loss_of(const Fault& fault, int64_t number, Answer& again) {
  const auto once = [&](bool is_planted) {
    return ask(json_line({{"fault", fault.name}, {"case", number}, {"planted", is_planted}}));
  };
  for (int time = 0; time < kTimesLost; time++) {
    again = once(true);
    if (!again.is_done) return once(false).is_done ? Loss::OfFault : Loss::OfCase;
  }
  return Loss::Once;
}

Scored ScoreChild::score(const Fault& fault) {
  Scored before;
  before.name = fault.name;
  before.of = fault.of;
  for (int64_t first = 0;;) {
    const int64_t begin = runtime::now_ns();
    Answer answer = ask(json_line({{"fault", fault.name}, {"first", first}}));
    Scored s = answer.said.empty() ? before : scored_of(Json::parse(answer.said), fault);
    s.seconds += before.seconds;
    if (answer.is_done || s.is_found) {
      if (!answer.is_done && s.blame.stage.empty()) {
        s.blame.evidence = fmt::format("who blames was lost: {}", answer.how);
      }
      if (!before.refused.empty()) s.refused = before.refused;
      return s;
    }
    s.seconds = before.seconds + static_cast<double>(runtime::now_ns() - begin) / 1e9;
    const int64_t number = s.tried;
    s.tried++;
    Answer again;
    const Loss loss = loss_of(fault, number, again);
    if (loss == Loss::OfFault) {
      s.is_found = true;
      s.live++;
      s.judges = {again.shape};
      s.findings = {{again.shape, again.at, again.shape,
                     fmt::format("the process {} at case {}, after {} {}", again.how, number,
                                 again.at, again.fired)}};
      s.witness = to_text(case_of(fault, options_, number));
      s.blame.stage = again.at;
      s.blame.rule = again.fired;
      s.blame.title = s.findings[0].evidence;
      s.is_blamed_right = names(s.blame, fault);
      return s;
    }
    if (loss == Loss::OfCase) {
      s.refused = fmt::format("the process {} at case {}, for no fault's sake", answer.how, number);
    } else {
      s.unknown++;
    }
    if (s.tried >= options_.cases || s.seconds >= options_.seconds) {
      s.why = reason(s, fault);
      return s;
    }
    before = s;
    first = s.tried;
  }
}

}  // namespace assay::fuzz
