#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/result.h"
#include "fuzz/case_source.h"
#include "fuzz/journal.h"
#include "fuzz/trial.h"
#include "fuzz/trial_child.h"
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
  std::vector<std::string> child = {};  // the command that serves trials (trial_child.h)
  int64_t limit_ms = 20'000;            // of one case
  reports::Begin begin = {};            // what is known of the engine and the machine
};

// How far it is.
struct Progress {
  int64_t cases = 0;
  int64_t replayed = 0;  // of them
  int64_t to_replay = 0;
  int64_t causes = 0;
  int64_t failed = 0;   // cases
  int64_t unknown = 0;  // obligations
  int64_t kernels = 0;
  int64_t sharing = 0;
  double seconds = 0;  // of this run
  int64_t before = 0;  // cases of earlier runs
};

// Tries cases in child processes, folds what comes of them in the order of their numbers, and
// writes it down as it goes. Rounds of cases are made from what was known when the round began, so
// that findings, verdicts and counts do not depend on how many children there are.
class Campaign {
 public:
  explicit Campaign(CampaignOptions options);
  ~Campaign();

  // Until the cases or the time are over, or `stop` is set. `show` is called about once a second.
  // An error is trouble with the folder; what was done up to then is there.
  Result<reports::End> run(const std::atomic<bool>& stop,
                           const std::function<void(const Progress&)>& show);
  const Progress& progress() const { return progress_; }

 private:
  struct Digest;
  Result<bool> begin();
  Result<bool> recall(const std::vector<reports::Record>& records);
  Result<bool> round(const std::atomic<bool>& stop,
                     const std::function<void(const Progress&)>& show);
  Result<bool> fold(int64_t number, const SourcedCase& c, const Outcome& outcome, double ms);
  Result<bool> investigate(int64_t number, const SourcedCase& c, const Finding& finding);
  Result<bool> add(const reports::Record& record);
  void count(const reports::CaseRecord& record);
  bool is_over() const;
  std::unique_ptr<TrialChild> take_child();
  void give_child(std::unique_ptr<TrialChild> child);
  double seconds() const;

  CampaignOptions options_;
  CaseSource source_;
  Journal journal_;
  std::unique_ptr<Digest> digest_;
  Progress progress_;
  int64_t next_ = 0;  // the number of the next case
  std::set<std::string, std::less<>> causes_;
  std::mutex mutex_;  // of the children that rest
  std::vector<std::unique_ptr<TrialChild>> resting_;
  std::vector<std::string> logs_;  // that no child uses
  int64_t start_ns_ = 0;
};

}  // namespace assay::fuzz
