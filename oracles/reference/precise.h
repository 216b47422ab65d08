#pragma once

#include "oracles/reference/bounded.h"
#include "oracles/reference/rounding.h"

namespace assay::reference {

// The exact result of fn, of one operand or two, within kPairError of it and 2^-1073; as a long
// double, whose exponents reach further, too. By MPFR: what f64 is judged by.
struct Precise {
  Pair result;
  long double wide;
};
Precise precise(Fn fn, Pair x, Pair y = {});

// The same by the C library, within kLibraryError of the exact result.
double library(Fn fn, double x, double y = 0);

}  // namespace assay::reference
