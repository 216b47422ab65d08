#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/uop/key.h"
#include "engine/uop/uop.h"

namespace assay::props {

// Two scalar terms, the second of which is to stand in the place of the first. Their leaves are
// VARIABLEs called for the order in which they are met, so that equal firings are one pair.
struct ScalarPair {
  uop::Ref before = nullptr;
  uop::Ref after = nullptr;
  std::vector<uop::Ref> when;  // what holds of the leaves beside their bounds
  // Whether every value of the leaves is one that they can have, all together: only then does a
  // difference show that the terms differ.
  bool is_free = true;

  // Of all of it, the same in every graph.
  uop::Key key(uop::Graph& g) const;
};

// Nodes that are known to have the values of others, which stand for them.
using SameAs = std::unordered_map<uop::Ref, uop::Ref>;

struct PairOptions {
  // Whether what both sides share is a value of its own, as far as it always has one.
  bool is_general = false;
  const SameAs* same = nullptr;
};

// The pair that two terms of `from` make in graph `to`. What is no scalar function is a leaf:
// VARIABLEs, RANGEs and SPECIALs within their bounds; a LOAD, or an INDEX of storage, any value;
// any other node (a REDUCE, say) is a value of which nothing is known. Nothing where `after` has a
// leaf of that last kind, or a read, that `before` has not.
std::optional<ScalarPair> scalar_pair(uop::Graph& from, uop::Ref before, uop::Ref after,
                                      const PairOptions& options, uop::Graph& to);

}  // namespace assay::props
