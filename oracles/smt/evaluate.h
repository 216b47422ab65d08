#pragma once

#include <optional>
#include <span>
#include <vector>

#include "oracles/smt/formula.h"

namespace assay::smt {

// A value of any sort: n / d, in lowest terms, of Real; n of all others, Bits zero-extended, Floats
// as bits.
struct Number {
  Int128 n = 0;
  Int128 d = 1;
  bool operator==(const Number&) const = default;
};

// A function of given operands. Nothing where it is opaque, where 127 bits do not hold the result,
// and where a float is cast to bits that do not hold it.
std::optional<Number> apply(Fn fn, Sort result, std::span<const Sort> sorts,
                            std::span<const Number> operands);

// Evaluates what a formula requires, by rules of its own: no solver is asked.
class Evaluation {
 public:
  explicit Evaluation(const Formula& f);

  // Whether all that is required holds for these values of the variables, by their place; nothing
  // where that depends on a term without a value.
  std::optional<bool> holds(std::span<const Number> variables);

 private:
  std::optional<Number> value(const Formula::Node& node, std::span<const Number> variables) const;

  const Formula& f_;
  size_t at_ = 0;                // the one that is evaluated, in order_
  std::vector<uint32_t> order_;  // the nodes that are needed, operands before their users
  std::vector<std::optional<Number>> values_;
};

// The nodes that what is required is made of, operands before their users.
std::vector<uint32_t> needed_nodes(const Formula& f);

}  // namespace assay::smt
