#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/mutate/mutate.h"
#include "fuzz/trial/case.h"
#include "oracles/choices.h"

namespace assay::fuzz {

// What a campaign tries.
struct SourceOptions {
  std::vector<std::string> devices = {"sim:0"};  // the first for most cases
  std::vector<uop::TypeSet> types = {};          // in which each computes; all where left out
  std::vector<std::string> profiles = {"generic", "adreno-630", "adreno-660", "adreno-740"};
  uint64_t seed = 1;
};

struct SourcedCase {
  Case what;
  std::string source;  // a file of the corpus, "random", "mutated", "spliced", "terms", "kernel"
};

// The cases of a campaign by number: first each saved program on each device; then what is made
// from nothing (programs, kernels, terms), or from saved programs and from cases that were kept
// because they did something new. A case is a function of its number, the seed, what is saved, and
// the cases kept of rounds before the last: rounds are made of fixed numbers of cases, so that a
// round can begin while the last one ends, and how many processes there are makes no difference.
class CaseSource {
 public:
  static constexpr int64_t kRound = 256;
  // So many cases in a row go to one device, and on a driver to one profile: it compiles the
  // kernels of all of them at once (Trial::foresee).
  static constexpr int64_t kTogether = 8;

  // `saved` are names and cases.
  CaseSource(SourceOptions options, std::vector<std::pair<std::string, Case>> saved);

  int64_t replayed() const { return static_cast<int64_t>(saved_.size() * options_.devices.size()); }
  // How many cases have to be known before this one is made.
  static int64_t needs(int64_t number) { return (number / kRound - 1) * kRound; }
  // The first number after those that this one is together with.
  static int64_t until(int64_t number) { return (number / kTogether + 1) * kTogether; }
  // By several threads at once, while others keep cases.
  SourcedCase make(int64_t number) const;
  // Cases to make others from; by rising numbers.
  void keep(int64_t number, const Case& c);
  // Whether cases are made from this one: terms, or a program of no more than it may become,
  // without variables, whose bounds and bindings a mutation does not keep to.
  static bool is_parent(const Case& c);

 private:
  struct Kept {
    int64_t number;
    std::unique_ptr<const Case> what;
  };
  // Two programs that are there for this case, and two cases of terms; null where none are.
  std::pair<const Case*, const Case*> parents(oracles::Choices& choices, int64_t number) const;
  std::pair<const Case*, const Case*> terms(oracles::Choices& choices, int64_t number) const;
  SourcedCase made(oracles::Choices& choices, int64_t number, bool is_driver) const;

  SourceOptions options_;
  std::vector<std::pair<std::string, Case>> saved_;
  std::vector<const Case*> saved_parents_;
  mutable std::mutex mutex_;  // of what is kept
  std::vector<Kept> kept_;    // programs
  std::vector<Kept> kept_terms_;
};

}  // namespace assay::fuzz
