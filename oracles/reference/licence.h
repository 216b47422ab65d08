#pragma once

#include <array>
#include <span>

#include "oracles/reference/rounding.h"

namespace assay::reference {

// A function at some types: how many units in the last place it may be off, 0 where it is rounded
// once to nearest even.
struct Limit {
  Fn fn;
  uop::TypeSet over;
  double ulps;
};

// What devices may do to floats beside rounding each result once: data that their target states.
class Licence {
 public:
  // `contracts`: a product may stay unrounded until something is added to it. `flushes`: the types
  // at which subnormal operands and results of arithmetic may be zeros of either sign. `limits` are
  // put in the place of those of the full profile.
  Licence(bool contracts, uop::TypeSet flushes, std::span<const Limit> limits);

  // The numbers of a type as they are computed with.
  const Format& format(DType t) const { return formats_[static_cast<size_t>(place_of(t))]; }

  // What two devices may do, each with a part of a program.
  friend Licence looser(const Licence& a, const Licence& b);

 private:
  std::array<Format, std::size(kFormats)> formats_;
};

// What OpenCL 1.2 asks of the full profile (section 7.4), but 4 units for functions to which it
// gives 3; products contracted, subnormals kept.
const Licence& full_profile();

// Whether a function may flush, where its type does: what is arithmetic. What is moved, compared or
// has its sign changed stays what it is.
bool is_arithmetic(Fn fn);

}  // namespace assay::reference
