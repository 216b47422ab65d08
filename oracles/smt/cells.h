#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/uop.h"

namespace assay::smt {

// What uop::eval() gives for all operands of one function of values of at most 8 bits: the bits of
// a result, or kNone. Tables are made once and lent.
class Tables {
 public:
  static constexpr uint16_t kNone = 0x100;
  // Of `op` giving type t of operands of type `from`, at [a | b << 8].
  const std::vector<uint16_t>& of(uop::Op op, uop::DType t, uop::DType from, size_t arity);

 private:
  std::map<std::array<int, 4>, std::vector<uint16_t>> made_;
};

// Whether an unspecified cell of Cells is so only because some `index` left 64 bits on the way: the
// numbers of index arithmetic have no end, those of the evaluator have.
bool has_left_64_bits(const uop::Cell& c);

// Evaluates terms at points where their leaves may also be unspecified or Invalid, which
// uop::Evaluator's may not. Functions are uop::eval()'s; of few bits they are looked up.
class Cells {
 public:
  // The leaves of the roots are among `leaves`, which are VARIABLE, RANGE and SPECIAL nodes. A leaf
  // that comes later in the list changes more often.
  Cells(uop::Graph& g, std::span<const uop::Ref> roots, std::span<const uop::Ref> leaves,
        Tables& tables);

  // The roots at a point whose leaves before `from` are those of the last point.
  void run(std::span<const uop::Cell> leaves, size_t from = 0);
  uop::Cell root(size_t i) const { return cells_[roots_[i]]; }

 private:
  struct Step {
    uop::Ref u;
    uint32_t first;  // in operands_
    uint32_t leaf;   // of a leaf, its place
    int32_t latest;  // the last of the leaves that it depends on; -1 of none
    const std::vector<uint16_t>* table;
  };
  uop::Cell step(const Step& s, std::span<const uop::Cell> leaves) const;
  uop::Cell function(const Step& s) const;

  std::vector<Step> steps_;
  std::vector<uint32_t> operands_;
  std::vector<uint32_t> roots_;
  std::vector<uop::Cell> cells_;
};

}  // namespace assay::smt
