#pragma once

#include <optional>

#include "engine/codegen/term.h"

// What lower_integer_rules() are made of.
namespace assay::codegen {

// Whether x / y in C neither traps nor is undefined: y is not 0, and not -1 under the least x.
bool is_safe_divisor(uop::Graph& g, uop::Ref x, uop::Ref y);

// op (div, mod, tdiv, tmod) where y is a constant, or nothing where C's operator is as good: powers
// of two are shifts and masks, and quotients by other constants are left to the compilers, all of
// which multiply by the reciprocal.
std::optional<Term> divided_by_constant(uop::Op op, Term x, Term y);
// The same for any y, by tdiv and tmod of a divisor that is safe.
Term divided(uop::Op op, Term x, Term y);

Term integer_power(Term x, Term n);
Term threefry(Term counter, Term key);

// x where an integer of type t holds it, else 0; x itself if it always does.
Term safe_for_cast(Term x, uop::DType t);

}  // namespace assay::codegen
