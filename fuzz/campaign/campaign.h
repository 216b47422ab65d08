#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/result.h"
#include "fuzz/blame/triage.h"
#include "fuzz/campaign/ahead.h"
#include "fuzz/campaign/campaign_worker.h"
#include "fuzz/campaign/case_source.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/coverage/coverage.h"
#include "fuzz/trial/trial.h"
#include "reports/record.h"

namespace assay::fuzz {

struct CampaignOptions {
  SourceOptions source = {};
  std::vector<std::pair<std::string, Case>> saved = {};  // replayed first
  std::string out;                                       // the folder that it writes
  int64_t programs = 0;                                  // cases in all; 0: no end
  double minutes = 0;                                    // 0: no end
  size_t jobs = 1;
  bool resume = false;
  std::vector<std::string> child = {};  // the command that serves trials (serve.h)
  int64_t limit_ms = 20'000;            // of one case
  reports::Begin begin = {};            // what is known of the engine and the machine
  std::string trial = "trial";          // the words after `assay` that try a case again
};

// How far it is.
struct Progress {
  int64_t cases = 0;
  int64_t replayed = 0;  // of them
  int64_t to_replay = 0;
  int64_t causes = 0;
  int64_t failed = 0;   // cases
  int64_t flaky = 0;    // cases
  int64_t unknown = 0;  // cases
  int64_t kept = 0;     // cases
  int64_t rules = 0;    // that fired
  int64_t all_rules = 0;
  int64_t features = 0;
  int64_t kernels = 0;
  int64_t sharing = 0;
  double seconds = 0;          // of this run
  int64_t before = 0;          // cases of earlier runs
  reports::Counts spent = {};  // microseconds of this run, by part
};

// Tries cases in child processes, folds what comes of them in the order of their numbers, and
// writes it down as it goes. What a case is made of depends on the rounds before the last alone
// (CaseSource), so that findings, verdicts and counts do not depend on how many children there are.
class Campaign {
 public:
  explicit Campaign(CampaignOptions options);
  ~Campaign();

  // Until the cases or the time are over, or `stop` is set. `show` is called after each case.
  // An error is trouble with the folder; what was done up to then is there.
  Result<reports::End> run(const std::atomic<bool>& stop,
                           const std::function<void(const Progress&)>& show);
  const Progress& progress() const { return progress_; }

 private:
  struct Digest;
  // What is known of a cause.
  struct Known {
    std::string folder;
    bool is_flaky = false;
  };

  Result<bool> begin();
  Result<bool> recall(const std::vector<reports::Record>& records);
  Result<bool> recall(const reports::CaseRecord& record);
  bool take_in(Feature f, int64_t number);
  Result<bool> explore(const std::atomic<bool>& stop,
                       const std::function<void(const Progress&)>& show);
  Result<bool> fold(int64_t number, const Tried& tried);
  Result<bool> look_into(int64_t number, const Tried& tried, reports::CaseRecord& record);
  Result<bool> write_finding(const SourcedCase& c, const Tried& tried, const Investigated& found,
                             reports::FindingRecord record);
  std::vector<std::string> known_causes() const;
  Result<bool> write_coverage();
  Result<bool> add(const reports::Record& record);
  void count(const reports::CaseRecord& record);
  bool is_over() const;
  double seconds() const;

  CampaignOptions options_;
  CaseSource source_;
  Children children_;
  Journal journal_;
  Ahead ahead_;
  std::unique_ptr<Digest> digest_;
  Progress progress_;
  int64_t next_ = 0;  // the number of the next case
  Seen seen_;
  std::map<Feature, int64_t> first_;  // which case showed it first
  std::map<Cause, Known> causes_;
  std::map<std::string, int64_t, std::less<>> failures_;  // how many, by CaseRecord::failure
  int64_t start_ns_ = 0;
};

}  // namespace assay::fuzz
