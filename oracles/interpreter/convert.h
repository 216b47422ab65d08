#pragma once

#include <optional>

#include "oracles/interpreter/scalar.h"

namespace assay::interpreter {

// engine/uop/README.md, "Conversions".
std::optional<Scalar> cast_of(Types types);
// Between types of one width; between others elements are no longer one to one.
std::optional<Scalar> bitcast_of(Types types);

// The same with its results rounded at its type.
Scalar rounded(Scalar scalar);

}  // namespace assay::interpreter
