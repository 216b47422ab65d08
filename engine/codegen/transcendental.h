#pragma once

#include "engine/uop/rule.h"

namespace assay::codegen {

// How far a function may be from the exact result, in units in the last place: 4, and 16 for pow.
// Nothing for what is no function of a library.
std::optional<double> promised_ulps(uop::Op op);

// exp exp2 log log2 sin cos tan pow, of f32 and f64, by polynomials: for every argument within
// promised_ulps(), with the special values of engine/uop/README.md. They ask for add, sub, mul, fma
// and (log, log2, tan, pow) recip at their type, none worse than 3 ulps, and keep nothing in
// subnormal numbers on the way, so a device that flushes those is right but for what it flushes. A
// function stays that the target wants native and whose limit is within the promise.
const uop::RuleSet& transcendental_rules();

}  // namespace assay::codegen
