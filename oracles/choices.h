#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "engine/uop/sample.h"

namespace assay::oracles {

// Every random decision that makes a case, from one seed: the same seed makes the same case with
// every compiler.
class Choices {
 public:
  explicit Choices(uint64_t seed) : random_(seed) {}

  uint64_t below(uint64_t n) { return random_.below(n); }
  int64_t between(int64_t lo, int64_t hi) { return static_cast<int64_t>(random_.between(lo, hi)); }
  // True `of` times in `times`.
  bool chance(uint64_t of, uint64_t times) { return below(times) < of; }
  template <typename T>
  const T& pick(std::span<const T> from) {
    return from[static_cast<size_t>(below(from.size()))];
  }
  template <typename T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(from.size())];
  }
  uop::Value value(uop::DType t) { return uop::any_value(random_, t); }
  uop::Random& random() { return random_; }

 private:
  uop::Random random_;
};

}  // namespace assay::oracles
