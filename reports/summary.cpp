#include "reports/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::reports {
namespace {

// Beyond these shares a judge masks so much that it judges nothing.
constexpr double kMostMasked = 0.02;

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

struct Adding {
  Summary& s;

  void operator()(const Begin& r) const {
    if (!s.begin) s.begin = r;
  }
  void operator()(const CaseRecord& r) const {
    s.cases++;
    s.replayed += r.source != "random" && r.source != "mutated" ? 1 : 0;
    s.passed += r.answer == "pass" ? 1 : 0;
    s.failed += r.answer == "fail" ? 1 : 0;
    s.unknown += r.answer == "unknown" ? 1 : 0;
    s.malformed += r.answer == "malformed" ? 1 : 0;
    s.kernels += r.kernels;
    s.sharing += r.sharing;
    s.obligations += r.obligations;
    s.elements += r.elements;
    s.unspecified += r.unspecified;
    s.ambiguous += r.ambiguous;
    s.case_seconds += r.ms / 1000;
    s.by_device[r.device]++;
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
  }
  void operator()(const ScoreRecord& r) const {
    s.scores.push_back(r);
    if (r.judge.empty()) {
      s.matrix[r.fault_class]["not found"]++;
      return;
    }
    s.faults_found++;
    s.blamed_right += r.is_blamed_right ? 1 : 0;
    s.matrix[r.fault_class][r.judge]++;
    s.judges.insert(r.judge);
  }
  void operator()(const End& r) const { s.end = r; }
};

void find_red(Summary& s) {
  const auto stable = std::ranges::count_if(s.findings, [](const auto& f) { return f.rate == 1; });
  if (stable != 0) s.red.push_back(fmt::format("{} causes of failures", stable));
  const auto flaky = static_cast<int64_t>(s.findings.size()) - stable;
  if (flaky != 0) s.red.push_back(fmt::format("{} flaky findings", flaky));
  if (s.refuted != 0) s.red.push_back(fmt::format("{} rules or properties refuted", s.refuted));
  if (s.unproved != 0) s.red.push_back(fmt::format("{} proofs unknown", s.unproved));
  if (share(s.unspecified, s.elements) > kMostMasked) s.red.push_back("too much is unspecified");
  if (share(s.ambiguous, s.elements) > kMostMasked) s.red.push_back("too much is ambiguous");
}

}  // namespace

Summary summarize(std::span<const Record> records) {
  Summary s;
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
