#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuzz/trial/case.h"

namespace assay::fuzz {

// The cases that a fault is looked for with, by number: saved programs and random ones in turn, and
// once all that is saved was shown, changes of it among them. A case is a function of its number,
// the seed and what is saved.
class ScoreCases {
 public:
  // `devices`: where cases run. Those of drivers are small: what compiles them takes long.
  ScoreCases(std::span<const Case> saved, uint64_t seed, std::vector<std::string> devices)
      : saved_(saved), seed_(seed), devices_(std::move(devices)) {}

  Case make(int64_t number) const;

 private:
  bool is_dear() const { return devices_[0].starts_with("cl:"); }
  Case random(int64_t number) const;

  std::span<const Case> saved_;
  uint64_t seed_;
  std::vector<std::string> devices_;
};

// The same program on other numbers: each input holds what is at the ends of its type.
Case with_extremes(Case c, uint64_t seed);

}  // namespace assay::fuzz
