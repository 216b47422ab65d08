#pragma once

#include <cstdint>
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
  std::string source;  // a file of the corpus, or "random"
};

// The cases of a campaign by number: first each saved program on each device, then random ones. A
// case is a function of its number, the seed and what is saved.
class CaseSource {
 public:
  // `saved` are names and cases.
  CaseSource(SourceOptions options, std::vector<std::pair<std::string, Case>> saved)
      : options_(std::move(options)), saved_(std::move(saved)) {}

  int64_t replayed() const { return static_cast<int64_t>(saved_.size() * options_.devices.size()); }
  SourcedCase make(int64_t number) const;

 private:
  SourcedCase random(int64_t number) const;

  SourceOptions options_;
  std::vector<std::pair<std::string, Case>> saved_;
};

}  // namespace assay::fuzz
