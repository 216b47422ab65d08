#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "engine/result.h"
#include "fuzz/campaign/case_source.h"
#include "fuzz/trial/trial.h"

namespace assay::fuzz {

// What became of a case.
struct Tried {
  bool is_done = false;
  SourcedCase c;
  Outcome outcome;
  double ms = 0;
  double rate = 1;     // of what failed: how often it did so again
  std::string on_sim;  // what the simulated device makes of it
};

// The cases that are tried and not folded yet, in a file beside the records: cases are folded in
// the order of their numbers, so one that is slow keeps many behind it waiting, and a campaign that
// is killed meanwhile would try them again. A case is one write to the end of the file. Any thread
// may call.
class Ahead {
 public:
  Ahead() = default;
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  ~Ahead();

  // Takes in the file at `path`, if there is one: the cases from `next` on. A line that was cut off
  // is left out.
  Result<bool> open(const std::string& path, int64_t next);
  // What became of the case, where it was tried before.
  std::optional<Tried> find(int64_t number, const SourcedCase& c) const;
  void add(int64_t number, const Tried& tried);
  // The case is folded. An error is the first trouble that writing met.
  Result<bool> drop(int64_t number);
  // Takes the file away where all is folded.
  void end();

 private:
  Result<bool> begin_file();

  mutable std::mutex mutex_;
  std::string path_;
  int file_ = -1;
  size_t size_ = 0;                       // of the file
  std::map<int64_t, std::string> lines_;  // by number, those that are not folded
  std::optional<Error> trouble_;
};

}  // namespace assay::fuzz
