#pragma once

#include "engine/uop/pattern.h"

namespace assay::uop {

// Conditions that guards test by name.
extern const Predicate kIsMinusZero;       // the float constant -0.0
extern const Predicate kIsPowerOfTwo;      // a float constant whose reciprocal is exact
extern const Predicate kIsLowest;          // the identity of max at its type
extern const Predicate kIsHighest;         // the identity of min at its type
extern const Predicate kNeverInvalid;      // a term that cannot denote Invalid
extern const Predicate kNeverUnspecified;  // a term with a value wherever its leaves have one
extern const Predicate kIsNoConstant;      // a term other than a CONST
extern const Predicate kIsNotInvalid;      // a term other than INVALID itself

}  // namespace assay::uop
