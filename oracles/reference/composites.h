#pragma once

#include "oracles/reference/scalar.h"

namespace assay::reference {

// Functions that are defined by an expansion (engine/tensor/program/ops.def, and Expansions in
// engine/tensor/README.md), step by step at the type of the operand.
using Composite = Bounded (*)(const At&, const Bounded&);

Bounded rsqrt(const At& at, const Bounded& x);
Bounded expm1(const At& at, const Bounded& x);
Bounded log10(const At& at, const Bounded& x);
Bounded log1p(const At& at, const Bounded& x);
Bounded asin(const At& at, const Bounded& x);
Bounded acos(const At& at, const Bounded& x);
Bounded atan(const At& at, const Bounded& x);
Bounded sinh(const At& at, const Bounded& x);
Bounded cosh(const At& at, const Bounded& x);
Bounded tanh(const At& at, const Bounded& x);
Bounded asinh(const At& at, const Bounded& x);
Bounded acosh(const At& at, const Bounded& x);
Bounded atanh(const At& at, const Bounded& x);
Bounded erf(const At& at, const Bounded& x);
Bounded sigmoid(const At& at, const Bounded& x);
Bounded relu(const At& at, const Bounded& x);
Bounded leaky_relu(const At& at, const Bounded& x, const Bounded& alpha);
Bounded elu(const At& at, const Bounded& x, const Bounded& alpha);
Bounded celu(const At& at, const Bounded& x, const Bounded& alpha);
Bounded gelu(const At& at, const Bounded& x);
Bounded gelu_by_tanh(const At& at, const Bounded& x);
Bounded silu(const At& at, const Bounded& x);
Bounded softplus(const At& at, const Bounded& x);
Bounded softsign(const At& at, const Bounded& x);
Bounded mish(const At& at, const Bounded& x);
Bounded hard_sigmoid(const At& at, const Bounded& x, const Bounded& alpha, const Bounded& beta);
Bounded hard_swish(const At& at, const Bounded& x);

// Comparisons, of operands of the type of `at`.
Bounded le(const At& at, const Bounded& x, const Bounded& y);
Bounded is_infinite(const At& at, const Bounded& x, bool positive, bool negative);

Bounded fmod(const At& at, const Bounded& x, const Bounded& y);
Bounded lerp(const At& at, const Bounded& x, const Bounded& y, const Bounded& t);

}  // namespace assay::reference
