#pragma once

#include "oracles/reference/bounded.h"

// Integers of any width, held in 64 bits.
namespace assay::reference {

// The number that x holds; of `u64` integer has its bits.
inline uop::Int128 integer_of(DType t, const Bounded& x) {
  if (t == DType::U64) return static_cast<uint64_t>(x.integer);
  return x.integer;
}

// The lowest bits of x that t has, sign-extended where t is signed.
inline int64_t wrapped(DType t, uop::Int128 x) {
  const int unused = 64 - uop::bits_of(t);
  const auto top = static_cast<uint64_t>(x) << unused;
  if (uop::is_unsigned(t)) return static_cast<int64_t>(top >> unused);
  return static_cast<int64_t>(top) >> unused;
}

// An exact integer at t: it wraps, but `index` has no width to wrap at.
inline Bounded integer_result(DType t, uop::Int128 x) {
  if (t == DType::Index && x != static_cast<int64_t>(x)) return unspecified();
  Bounded r;
  r.integer = wrapped(t, x);
  return r;
}

}  // namespace assay::reference
