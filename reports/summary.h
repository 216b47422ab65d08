#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "reports/record.h"

namespace assay::reports {

// Cases of one device, or from one source.
struct Share {
  int64_t cases = 0;
  double seconds = 0;
};

// What must be put to Z3 in a night, and which properties say it.
struct Z3Group {
  std::string_view name;
  std::vector<std::string_view> properties;
  int64_t decided = 0;  // obligations, by Z3
};

// What the records of a campaign, or of a night, come to.
struct Summary {
  std::optional<Begin> begin;
  std::optional<End> end;  // nothing where it was killed

  int64_t cases = 0, replayed = 0, passed = 0, failed = 0, flaky = 0, unknown = 0, malformed = 0;
  int64_t kernels = 0, sharing = 0, obligations = 0;
  int64_t elements = 0, unspecified = 0, ambiguous = 0;
  double case_seconds = 0;  // of all cases together
  std::map<std::string, Share> by_device, by_source;
  std::vector<CaseRecord> slowest;  // a few, the slowest first
  Counts unknown_by_cause;
  std::vector<FindingRecord> findings;
  std::vector<CoverageRecord> coverage;
  std::vector<ProofRecord> proofs;
  int64_t proved = 0, refuted = 0, unproved = 0;  // of `proofs`

  // Seeded faults, where the records hold a score.
  std::vector<ScoreRecord> scores;
  int64_t faults_found = 0;
  int64_t blamed_right = 0;
  double median_seconds = 0;
  std::map<std::string, Counts> matrix;  // class of faults, then judge: how many it found
  std::set<std::string> judges;

  std::vector<Z3Group> z3;
  std::vector<TargetRecord> targets;
  std::vector<StepRecord> steps;  // of a night; none where the records are of a campaign alone

  // Why a night is red; empty where it is not: findings, rules refuted, what masks too much, a step
  // that failed, a group of properties of which Z3 decided nothing.
  std::vector<std::string> red;
};

Summary summarize(std::span<const Record> records);

}  // namespace assay::reports
