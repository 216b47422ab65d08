#pragma once

#include <cstdint>

#include "engine/uop/dtype.h"

namespace assay::tensor {

enum class Distribution : uint8_t { Uniform, Normal, Integers, Nasty };

// What `integers` draws from unless it is said.
inline constexpr int kLeastDefault = -8;
inline constexpr int kMostDefault = 8;

// The elements of a random input: contents.h says what each distribution gives. Element i is a
// function of its place alone, made with exact arithmetic only, so it is the same everywhere.
class Random {
 public:
  // Uniform draws from [low, high), Integers from [least, most].
  Random(Distribution distribution, uop::DType type, uint64_t seed, double low, double high,
         uop::Int128 least, uop::Int128 most);

  uint64_t bits(uint64_t i) const;

 private:
  uint64_t draw(uint64_t i, uint64_t k) const;
  uint64_t uniform(uint64_t i) const;
  uint64_t normal(uint64_t i) const;
  uint64_t integer(uint64_t i) const;
  uint64_t nasty_integer(uint64_t i) const;
  uint64_t nasty_float(uint64_t i) const;

  Distribution distribution_;
  uop::DType type_;
  uint64_t key_;
  double low_;
  double high_;
  uop::Int128 least_;
  uop::UInt128 span_;  // how many integers there are from least_ on
};

}  // namespace assay::tensor
