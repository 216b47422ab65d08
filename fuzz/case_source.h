#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuzz/case.h"

namespace assay::fuzz {

// What a campaign tries.
struct SourceOptions {
  std::vector<std::string> devices = {"sim:0"};  // the first for most cases
  std::vector<std::string> profiles = {"generic", "adreno-630", "adreno-660", "adreno-740"};
  uint64_t seed = 1;
};

struct SourcedCase {
  Case what;
  std::string source;  // a file of the corpus, "random", "mutated"
};

// The cases of a campaign by number: first each saved program on each device, then random ones and
// mutations of those that showed something new. A case is a function of its number, the seed, what
// is saved, and what was new before.
class CaseSource {
 public:
  // `saved` are names and cases.
  CaseSource(SourceOptions options, std::vector<std::pair<std::string, Case>> saved)
      : options_(std::move(options)), saved_(std::move(saved)) {}

  int64_t replayed() const { return static_cast<int64_t>(saved_.size() * options_.devices.size()); }
  SourcedCase make(int64_t number, std::span<const Case> novel) const;

 private:
  SourcedCase random(int64_t number, std::span<const Case> novel) const;

  SourceOptions options_;
  std::vector<std::pair<std::string, Case>> saved_;
};

}  // namespace assay::fuzz
