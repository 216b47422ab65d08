#pragma once

#include <span>
#include <vector>

#include "engine/codegen/numbers.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// A loop and the REDUCEs that are folded in it, in the order of the kernel.
struct FoldLoop {
  std::span<const uop::Ref> ranges;  // what is looped over; at least one
  std::span<const uop::Ref> outer;   // the ranges that the folds stand in
  uint32_t level = 0;                // the longest chain of folds, each made of the one before
  std::vector<uop::Ref> folds;
};

// A kernel, and the loops that its REDUCEs share: those over the same ranges in the same nest, of
// which none needs the result of another, in however many steps. Folds of one level never do, so no
// two loops wait for each other.
struct FoldLoops {
  // Sources stand before their users in `kernel`.
  FoldLoops(uop::Graph& g, std::span<const uop::Ref> kernel);

  // Sources before their users, and what the folds of a loop are made of before the first of them.
  std::vector<uop::Ref> order;
  std::vector<FoldLoop> loops;
};

// The kernel with each RANGE in one loop: where folds over the same ranges cannot share one, those
// of the later loop go over ranges of their own.
uop::Ref separate_loops(uop::Graph& g, uop::Ref root, FreeNumbers& free);

}  // namespace assay::codegen
