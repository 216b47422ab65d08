#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/uop/bounds.h"
#include "engine/uop/uop.h"

namespace assay::uop {

// A sum of terms with constant factors: constant + Σ factor · atom. Atoms are distinct, no sums and
// no products with a constant, and stand in canonical order; no factor is zero. At fixed widths
// factors and constant are held wrapped.
struct Sum {
  using Term = Multiple;
  // Longer sums are left alone, so that a chain of a million additions costs a million times this.
  static constexpr int kMaxTerms = 24;

  DType dtype = DType::Index;
  int count = 0;
  int64_t constant = 0;
  std::array<Term, kMaxTerms> items;  // the first `count` of them; the rest is never read

  Sum() {}  // NOLINT(modernize-use-equals-default): a default one would clear the items
  Sum(const Sum& o) : dtype(o.dtype), count(o.count), constant(o.constant) {
    std::copy_n(o.items.begin(), count, items.begin());
  }
  Sum& operator=(const Sum& o) {
    dtype = o.dtype;
    count = o.count;
    constant = o.constant;
    std::copy_n(o.items.begin(), count, items.begin());
    return *this;
  }

  std::span<const Term> terms() const { return {items.data(), static_cast<size_t>(count)}; }
  // Adds factor · atom, in place; false where there is no room or a number leaves 64 bits.
  bool add(Graph& g, Ref atom, Int128 factor);
  bool add_constant(Int128 value);
  // Adds factor · other.
  bool add(Graph& g, const Sum& other, Int128 factor);
};

// The sum that u is; nothing where it has too many terms, a factor leaves 64 bits, or u may be
// Invalid: a term that cancels out would take what it says with it. u is an integer.
std::optional<Sum> sum_of(Graph& g, Ref u);

// The canonical term of a sum: ((t0 + t1) + t2) + constant, each t an atom or atom * factor.
Ref build(Graph& g, const Sum& sum);

// Bounds of a sum of type `index`.
Bounds bounds(Graph& g, const Sum& sum);

}  // namespace assay::uop
