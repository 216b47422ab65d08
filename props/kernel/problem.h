#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracles/smt/formula.h"
#include "props/kernel/form.h"

namespace assay::props::kernel {

enum class Found : uint8_t { No, Yes, Unknown };

// Are there integers within their bounds for which all of these constraints hold? Decided by
// propagation of bounds and bisection, which ends with an answer wherever sums are of mixed radix,
// as the indices of kernels mostly are, and otherwise may run out of steps.
class Problem {
 public:
  struct Factor {
    int32_t variable;
    Int128 times;
  };

  // A primary one is of those that the others follow from.
  int32_t add_variable(Int128 lo, Int128 hi, bool is_primary = false);
  // lo <= sum of factors <= hi; the number of the constraint. Variables stand once each. One that
  // is an option holds only where a clause says so.
  int32_t add_linear(std::span<const Factor> sum, Int128 lo, Int128 hi, bool is_option = false);
  // One of these lists of constraints holds.
  void add_clause(std::vector<std::vector<int32_t>> options);
  // variable = x * y
  void add_product(int32_t variable, int32_t x, int32_t y) {
    products_.push_back({variable, x, y});
  }

  struct Answer {
    Found found = Found::Unknown;
    std::vector<Int128> values;  // of variables, where there are some
    int64_t steps = 0;
  };
  Answer search(int64_t steps) const;
  // The same as a question to a prover; variables are called v0, v1, …
  smt::Formula formula() const;
  // Whether all that is required holds for these values.
  bool holds(std::span<const Int128> values) const;

 private:
  friend class Search;
  struct Linear {
    uint32_t first;
    uint32_t count;
    Int128 lo;
    Int128 hi;
  };
  struct Product {
    int32_t variable, x, y;
  };

  std::span<const Factor> factors(const Linear& l) const {
    return std::span(factors_).subspan(l.first, l.count);
  }
  bool linear_holds(const Linear& l, std::span<const Int128> values) const;
  smt::Term linear_term(smt::Formula& f, std::span<const smt::Term> variables,
                        const Linear& l) const;

  std::vector<Interval> variables_;
  std::vector<int32_t> primary_;
  std::vector<Factor> factors_;
  std::vector<Linear> linears_;
  std::vector<int32_t> required_;  // those that hold whatever clauses choose
  std::vector<std::vector<std::vector<int32_t>>> clauses_;
  std::vector<Product> products_;
};

}  // namespace assay::props::kernel
