#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor/program/program.h"
#include "oracles/reference/reference.h"

namespace assay::oracles {

// An element and how far it is off.
struct Worst {
  std::vector<int64_t> index;
  std::string expected;  // as text
  std::string actual;
  double bound = 0;
  double error = 0;
  double error_by_bound = 0;  // infinite where no error is allowed
};

// What bytes have in common with a value of the reference. Every element is counted once, by what
// is known of it; those that are unspecified or ambiguous are not looked at.
struct Comparison {
  int64_t exact = 0;
  int64_t bounded = 0;
  int64_t unspecified = 0;
  int64_t ambiguous = 0;
  int64_t wrong = 0;  // of the first two
  Worst worst;        // the first of the largest error_by_bound, where some element was looked at
  // Of each bounded element that is right: bound ÷ max(error, ½ unit in the last place).
  std::vector<double> sharpness;

  int64_t elements() const { return exact + bounded + unspecified + ambiguous; }
  bool agrees() const { return wrong == 0; }
  // Whether nothing could be said of any element.
  bool is_masked() const { return exact + bounded == 0 && unspecified + ambiguous > 0; }
};

// Exact elements are compared bit by bit, but that any NaN stands for a NaN, and either zero for
// one of unknown sign. Bools are bytes, 0 or 1. There are as many bytes as the elements have.
Comparison compare(const reference::Array& expected, std::span<const std::byte> actual);

// "12 exact, 4 bounded, 0 unspecified, 1 ambiguous; worst [0, 3]: …"
std::string to_text(const Comparison& comparison);

// A list that is expected of a value, one literal an element or one for all, against the value of
// the reference: integers and bools are equal, floats lie within the bound and 4 units in the last
// place,
// `_` is anything, and of what is unspecified or ambiguous nothing is asked. A zero may have either
// sign, unless it is written -0.0.
Comparison compare(const reference::Array& value, std::span<const tensor::Literal> expected);

}  // namespace assay::oracles
