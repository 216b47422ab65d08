#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "engine/uop/bounds.h"
#include "engine/uop/uop.h"

namespace assay::uop {

// Sizes of axes ("dims"): nodes of type `index`, either constants or terms of bounded variables.
// The functions here make terms that are folded where both operands are constants and that have
// their operands in canonical order, so that one size reached in two ways is mostly one node. What
// would leave 64 bits stays a term.

Ref dim(Graph& g, int64_t size);
std::vector<Ref> dims(Graph& g, std::initializer_list<int64_t> sizes);
// u as a dim: itself at type `index`, else cast to it.
Ref as_dim(Graph& g, Ref u);

// u is the constant n.
inline bool is_dim(Ref u, int64_t n) {
  return is_const(u) && u->dtype == Index && static_cast<int64_t>(u->arg.bits) == n;
}

Ref dim_add(Graph& g, Ref a, Ref b);
Ref dim_sub(Graph& g, Ref a, Ref b);
Ref dim_mul(Graph& g, Ref a, Ref b);
// The quotient rounded down; b is not zero.
Ref dim_div(Graph& g, Ref a, Ref b);
// The quotient rounded up, as (x + d - 1) // d: -(x // -d) is the same only where division rounds
// down, and OpenCL's does not. d is positive.
Ref ceil_div(Graph& g, Ref x, Ref d);

inline bool may_be(Bounds b, Int128 value) { return b.lo <= value && value <= b.hi; }
// Whether a and b can be equal for some values of their variables, as far as bounds tell once equal
// terms of the two sums are cancelled.
bool may_equal(Graph& g, Ref a, Ref b);
// The values that a - b can take, to the same extent.
Bounds dim_difference(Graph& g, Ref a, Ref b);
// Whether the products of a and of b can be equal, to the same extent, once equal factors are
// cancelled: [n, 3] holds as many elements as [3, n], and not as many as [n, 4], though both may be
// empty.
bool products_may_equal(Graph& g, std::span<const Ref> a, std::span<const Ref> b);

}  // namespace assay::uop
