#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/uop/uop.h"
#include "engine/uop/value.h"

namespace assay::uop {

// The scalar meaning of op (README.md, "What operations mean") at type t of its result. Nothing
// where the contract leaves the result unspecified, or where an `index` leaves 64 bits. Functions
// of floats are correctly rounded.
std::optional<Value> eval(Op op, DType t, std::span<const Value> src);

// What a fold by op at type t begins with, and what one of nothing is. op has a unit.
Value unit_of(Op op, DType t);

// What a node denotes for given values of its variables.
struct Cell {
  enum class State : uint8_t {
    Defined,
    Unspecified,  // may be anything, and so may all that is computed from it
    Invalid,      // not a value: marks an access that does not happen, and so does all that uses it
  };
  State state = State::Unspecified;
  Value value;

  static Cell of(Value v) { return {State::Defined, v}; }
  bool defined() const { return state == State::Defined; }
};

// Evaluates one scalar term (leaves are constants, Invalid, variables, ranges and specials) for
// many assignments.
class Evaluator {
 public:
  // Every node below root is a leaf as above or a scalar function.
  Evaluator(Graph& g, Ref root);

  // The VARIABLE, RANGE and SPECIAL leaves of the term, in toposort order: run() takes their values
  // in this order.
  const std::vector<Ref>& leaves() const { return leaves_; }
  Cell run(std::span<const Value> leaf_values);

 private:
  struct Step {
    Ref u;
    uint32_t first;  // in operands_
    uint32_t leaf;
  };
  Cell step(const Step& s, std::span<const Value> leaf_values) const;

  std::vector<Ref> leaves_;
  std::vector<Step> steps_;
  std::vector<uint32_t> operands_;
  std::vector<Cell> cells_;
};

}  // namespace assay::uop
