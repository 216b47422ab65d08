#pragma once

#include "engine/uop/facts.h"
#include "engine/uop/uop.h"

namespace assay::uop {

// An end of Bounds that is infinite; more than any integer of 64 bits.
inline constexpr Int128 kInfinite = Int128{1} << 100;

// Bounds of a node of integer type or bool, exact at each width: a result that may wrap has all of
// its type's range, an `index` beyond 64 bits is infinite. Where the node's value is unspecified
// the bounds say nothing about it.
Bounds bounds(Graph& g, Ref u);

// Bounds of a node of float type.
FloatBounds float_bounds(Graph& g, Ref u);

// Whether u may denote Invalid: whether an INVALID reaches it other than through a load.
bool may_be_invalid(Graph& g, Ref u);

// Bounds of a product at type t.
Bounds product(DType t, Bounds a, Bounds b);

// The one value that u takes, where its bounds leave only one.
inline bool is_single(const Bounds& b) { return b.lo == b.hi; }

// Quotient rounded towards minus infinity; b is not zero.
constexpr Int128 floor_div(Int128 a, Int128 b) {
  const Int128 q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

}  // namespace assay::uop
