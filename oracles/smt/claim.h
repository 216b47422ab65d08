#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/uop.h"
#include "oracles/smt/cells.h"
#include "oracles/smt/encode.h"
#include "oracles/smt/prover.h"
#include "oracles/verdict.h"

namespace assay::smt {

// A condition that is no term: of exact integers, or of the states of leaves.
struct Condition {
  // Whether it holds at a point: a cell for each leaf of the claim.
  std::function<bool(std::span<const uop::Cell>)> holds;
  // The same, of encoded leaves; nothing where it cannot be said in the encoder's view.
  std::function<std::optional<Term>(Encoder&)> encode;
};

// That one scalar term may stand in the place of another, for all values of their leaves: where
// `before` has a value `after` has the same one (all NaNs are one, zeros are two), where it is
// Invalid so is `after`, where it is unspecified anything goes. An `index` is a number without end:
// that `after` leaves 64 bits is no fault, and where `before` does anything goes.
struct Claim {
  struct Leaf {
    uop::Ref u;  // a VARIABLE, RANGE or SPECIAL
    bool may_be_unspecified = false;
    bool may_be_invalid = false;
    // The place of the leaf that this one is not above, or not below, wherever both have a value.
    int least_of = -1;
    int most_of = -1;
    // Where there are any: all that it may be.
    std::vector<uop::Value> values = {};
  };

  uop::Graph& g;
  uop::Ref before;
  uop::Ref after;
  std::vector<Leaf> leaves;           // all that before, after and the rest read
  std::vector<uop::Ref> when = {};    // terms of bool that hold
  std::vector<uop::Ref> valued = {};  // terms that have a value, of 64 bits if of `index`
  std::optional<Condition> condition = {};
  // Floats are numbers that are never rounded.
  bool is_real = false;
};

// How much is tried.
struct Effort {
  uint64_t seed = 1;
  size_t samples = 2000;
  // Points that are evaluated before a solver is asked: where all functions are looked up, of
  // floats, and otherwise.
  uint64_t table_points = uint64_t{1} << 20;
  uint64_t float_points = uint64_t{1} << 18;
  uint64_t other_points = uint64_t{1} << 12;
  // And once none knew: where all functions are looked up, and otherwise.
  uint64_t last_table_points = uint64_t{1} << 25;
  uint64_t last_points = uint64_t{1} << 20;
  bool asks_solvers = true;
};

// What became of a claim.
struct Settled {
  oracles::Verdict verdict;
  std::string method;  // "enumeration", "samples", or what the prover says; of unknown the cause
  // Of a failure: a point, and what the sides are there, evaluated by uop::Evaluator.
  std::vector<uop::Cell> point;
  uop::Cell before, after;
  // At how many of the samples there was something to judge.
  uint64_t judged = 0;
};

// Samples refute, exhaustive evaluation and solvers prove; what a solver refutes is evaluated.
Settled settle(const Claim& claim, Prover& prover, Tables& tables, std::string_view kind,
               const Effort& effort = {});

// Whether a claim is kept by what its sides are: by value, where `before` is not unspecified.
// Floats of a claim over the reals agree in half of their digits, and where one is infinite or NaN,
// since both have been rounded.
bool agrees(const Claim& claim, const uop::Cell& before, const uop::Cell& after);

// "x = 3, c = unspecified".
std::string point_text(const Claim& claim, std::span<const uop::Cell> point);
std::string cell_text(const uop::Cell& c);

// Points of a claim: their leaves' values, all in turn or drawn.
class ClaimPoints {
 public:
  ClaimPoints(const Claim& claim, Tables& tables);

  // How many there are, at most `most` + 1.
  uint64_t count(uint64_t most) const;
  // Whether all functions are looked up, so that a point costs next to nothing.
  bool is_narrow() const { return is_narrow_; }
  // The first of these points at which the claim fails, or nothing.
  std::optional<std::vector<uop::Cell>> search_all();
  std::optional<std::vector<uop::Cell>> search_samples(uint64_t seed, size_t samples);
  // Whether the claim speaks of a point and fails there. Leaves before `from` are those of the last
  // point.
  bool fails_at(std::span<const uop::Cell> point, size_t from = 0);
  // At how many points `before` was not unspecified, so that there was something to judge.
  uint64_t judged() const { return judged_; }
  // And at how many of those that search_samples() drew.
  uint64_t sampled() const { return sampled_; }

 private:
  std::vector<uop::Cell> domain(size_t leaf) const;
  uop::Cell sample(size_t leaf, uint64_t seed, std::span<const uop::Cell> point) const;
  bool is_admitted(std::span<const uop::Cell> point);

  const Claim& claim_;
  Cells conditions_;  // when, then valued
  Cells sides_;       // before, after
  // The leaves that have changed since each was run, from this one on.
  size_t conditions_from_ = 0;
  size_t sides_from_ = 0;
  bool is_narrow_ = true;
  uint64_t judged_ = 0;
  uint64_t sampled_ = 0;
};

}  // namespace assay::smt
