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

// What the records of a campaign come to.
struct Summary {
  std::optional<Begin> begin;
  std::optional<End> end;  // nothing where it was killed

  int64_t cases = 0, replayed = 0, passed = 0, failed = 0, unknown = 0, malformed = 0;
  int64_t kernels = 0, sharing = 0, obligations = 0;
  int64_t elements = 0, unspecified = 0, ambiguous = 0;
  double case_seconds = 0;  // of all cases together
  Counts by_device;         // cases
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

  // Why a night is red; empty where it is not: findings, rules refuted, what masks too much.
  std::vector<std::string> red;
};

Summary summarize(std::span<const Record> records);

}  // namespace assay::reports
