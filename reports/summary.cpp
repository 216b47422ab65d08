#include "reports/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/markup.h"

namespace assay::reports {
namespace {

// Beyond these shares a judge masks so much that it judges nothing.
constexpr double kMostMasked = 0.02;
// A harness that finds less of what is planted is not to be relied on. The sample of a night is
// small, so this is below what is asked of all faults together.
constexpr double kFewestFound = 0.9;

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// What a night has to put to Z3.
std::vector<Z3Group> z3_groups() {
  return {{"order", {"schedule_order", "linear_order"}},
          {"plan", {"plan_order", "plan_layout"}},
          {"barriers and races", {"kernel_races", "kernel_barriers"}},
          {"bounds", {"kernel_bounds"}}};
}

constexpr size_t kSlowest = 5;

// What is no file of the corpus is named by how it was made.
bool is_saved(const CaseRecord& r) { return r.source.find_first_of("./") != std::string::npos; }

void add_share(Share& share, const CaseRecord& r) {
  share.cases++;
  share.seconds += r.ms / 1000;
}

struct Adding {
  Summary& s;

  void add_slow(const CaseRecord& r) const {
    if (s.slowest.size() == kSlowest && r.ms <= s.slowest.back().ms) return;
    const auto at = std::ranges::find_if(s.slowest, [&](const auto& o) { return o.ms < r.ms; });
    s.slowest.insert(at, r);
    if (s.slowest.size() > kSlowest) s.slowest.pop_back();
  }

  void operator()(const Begin& r) const {
    if (!s.begin) s.begin = r;
  }
  void operator()(const CaseRecord& r) const {
    s.cases++;
    s.replayed += is_saved(r) ? 1 : 0;
    s.passed += r.answer == "pass" ? 1 : 0;
    s.failed += r.answer == "fail" ? 1 : 0;
    s.flaky += r.answer == "flaky" ? 1 : 0;
    s.unknown += r.answer == "unknown" ? 1 : 0;
    s.malformed += r.answer == "malformed" ? 1 : 0;
    s.kernels += r.kernels;
    s.sharing += r.sharing;
    s.obligations += r.obligations;
    s.elements += r.elements;
    s.unspecified += r.unspecified;
    s.ambiguous += r.ambiguous;
    s.case_seconds += r.ms / 1000;
    add_share(s.by_device[r.device], r);
    add_share(s.by_source[is_saved(r) ? "saved" : r.source], r);
    add_slow(r);
    for (const auto& [cause, n] : r.unknown) s.unknown_by_cause[cause] += n;
  }
  void operator()(const FindingRecord& r) const { s.findings.push_back(r); }
  void operator()(const CoverageRecord& r) const {
    // The last of a group holds all that those before it did.
    std::erase_if(s.coverage, [&](const CoverageRecord& c) { return c.group == r.group; });
    s.coverage.push_back(r);
  }
  void operator()(const ProofRecord& r) const {
    s.proofs.push_back(r);
    s.proved += r.answer == "pass" ? 1 : 0;
    s.refuted += r.answer == "fail" ? 1 : 0;
    s.unproved += r.answer == "unknown" ? 1 : 0;
    const auto by_z3 = r.methods.find("z3");
    if (by_z3 == r.methods.end()) return;
    for (Z3Group& group : s.z3) {
      if (std::ranges::find(group.properties, r.name) != group.properties.end()) {
        group.decided += by_z3->second;
      }
    }
  }
  void operator()(const ScoreRecord& r) const {
    s.scores.push_back(r);
    if (r.judge.empty()) {
      s.matrix[r.fault_class]["not found"]++;
      return;
    }
    s.faults_found++;
    s.blamed_right += r.is_blamed_right ? 1 : 0;
    for (const std::string& judge : r.judges.empty() ? std::vector{r.judge} : r.judges) {
      s.matrix[r.fault_class][judge]++;
      s.judges.insert(judge);
    }
  }
  void operator()(const TargetRecord& r) const { s.targets.push_back(r); }
  void operator()(const StepRecord& r) const { s.steps.push_back(r); }
  void operator()(const End& r) const { s.end = r; }
};

void find_red_of_night(Summary& s) {
  for (const StepRecord& step : s.steps) {
    if (step.code != 0) s.red.push_back(fmt::format("step {} exits with {}", step.name, step.code));
  }
  for (const Z3Group& group : s.z3) {
    if (group.decided == 0) s.red.push_back(fmt::format("Z3 decided nothing of {}", group.name));
  }
}

void find_red(Summary& s) {
  const auto stable = std::ranges::count_if(s.findings, [](const auto& f) { return f.rate == 1; });
  if (stable != 0) s.red.push_back(counted(stable, "cause of failures", "causes of failures"));
  const auto flaky = static_cast<int64_t>(s.findings.size()) - stable;
  if (flaky != 0) s.red.push_back(counted(flaky, "flaky finding", "flaky findings"));
  if (s.refuted != 0) s.red.push_back(counted(s.refuted, "claim refuted", "claims refuted"));
  if (s.unproved != 0) s.red.push_back(counted(s.unproved, "claim unknown", "claims unknown"));
  for (const TargetRecord& t : s.targets) {
    if (t.crashes != 0)
      s.red.push_back(
          fmt::format("target {}: {}", t.name, counted(t.crashes, "failure", "failures")));
  }
  if (!s.scores.empty() &&
      share(s.faults_found, static_cast<int64_t>(s.scores.size())) < kFewestFound) {
    s.red.push_back(fmt::format("{} of {} seeded faults found", s.faults_found, s.scores.size()));
  }
  if (!s.steps.empty()) find_red_of_night(s);
  if (share(s.unspecified, s.elements) > kMostMasked) s.red.push_back("too much is unspecified");
  if (share(s.ambiguous, s.elements) > kMostMasked) s.red.push_back("too much is ambiguous");
}

}  // namespace

Summary summarize(std::span<const Record> records) {
  Summary s;
  s.z3 = z3_groups();
  for (const Record& r : records) std::visit(Adding{s}, r);
  std::vector<double> seconds;
  for (const ScoreRecord& r : s.scores) {
    if (!r.judge.empty()) seconds.push_back(r.seconds);
  }
  std::ranges::sort(seconds);
  if (!seconds.empty()) s.median_seconds = seconds[seconds.size() / 2];
  find_red(s);
  return s;
}

}  // namespace assay::reports
