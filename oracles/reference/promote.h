#pragma once

#include <optional>

#include "engine/tensor/program/program.h"
#include "oracles/reference/bounded.h"

namespace assay::reference {

// The least type that both can be promoted to (the lattice stands in engine/uop/README.md); nothing
// for void and index, which no value of a program has.
std::optional<DType> joined(DType a, DType b);

// The type that a number takes beside operands of type t: t, or f32 where it has a point and they
// are not floats.
DType beside(const tensor::Literal& number, DType t);

// The number at a type, if that can hold it.
std::optional<Bounded> number_at(const tensor::Literal& number, DType t);

}  // namespace assay::reference
