#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/pattern.h"
#include "oracles/smt/encode.h"

namespace assay::props {

// A cell for the name of a hole, or for "lo(x)" and "hi(x)".
using CellOf = std::function<uop::Cell(std::string_view)>;

// Whether a guard holds of these cells.
bool guard_holds(const uop::Pat& when, const CellOf& cell_of);

// A rule's guard, as README.md of engine/uop says what it means: a statement about exact integers,
// false where it needs a number that is infinite or no integer. A part that decides an `and` or an
// `or` by itself does so whether or not the other has a value.
class Guard {
 public:
  // `place_of` gives the place among a claim's leaves of a hole, or of "lo(x)" and "hi(x)".
  // `refs` are those leaves.
  Guard(uop::Pat when, std::function<size_t(std::string_view)> place_of,
        std::vector<uop::Ref> refs);

  bool holds(std::span<const uop::Cell> point) const;
  // Nothing where the encoder's view cannot say it.
  std::optional<smt::Term> encode(smt::Encoder& encoder) const;

 private:
  // A number, or a truth, which may have no value.
  struct Part {
    bool is_truth = false;
    smt::Term term;
    smt::Term is_known;
    uop::Int128 lo = 0, hi = 0;  // of a number at width: what it lies within
  };

  size_t place(const uop::Pat& leaf) const;
  std::optional<Part> part(const uop::Pat& pat, smt::Encoder& e) const;
  std::optional<Part> leaf_part(const uop::Pat& pat, smt::Encoder& e) const;
  std::optional<Part> test_part(const uop::Pat& pat, smt::Encoder& e) const;
  std::optional<Part> apply_part(uop::Op op, const Part& a, const Part& b, smt::Encoder& e) const;
  Part literal_part(uop::Int128 value, smt::Encoder& e) const;
  smt::Term truth_of(const Part& p, smt::Encoder& e) const;

  uop::Pat when_;
  std::function<size_t(std::string_view)> place_of_;
  std::vector<uop::Ref> refs_;
};

// "lo(x)" and "hi(x)" of lo() and hi(); the name of a hole or constant.
std::string leaf_name(const uop::Pat& pat);

// The parts of a guard that must all hold.
std::vector<uop::Pat> guard_parts(const uop::Pat& when);

// The first predicate of the guard that has no row in meaning.h, or nothing.
std::optional<std::string_view> unknown_predicate(const uop::Pat& when);

}  // namespace assay::props
