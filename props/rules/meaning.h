#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/uop/value.h"

namespace assay::props {

// What a guard's predicate (uop::Predicate) says of a hole, to the prover: a row for each name. A
// predicate without a row leaves the rules that use it unknown.
struct Meaning {
  enum class Says : uint8_t {
    IsOneOf,         // a constant of few: values() lists them
    NotInvalid,      // of a term that it is not Invalid
    NotUnspecified,  // of a term that it has a value wherever it is not Invalid
    // That a term is written in some way, which is no condition on what it denotes.
    Nothing,
  };
  std::string_view predicate;
  Says says = Says::Nothing;
  // In the order of their bits; empty at types that the predicate is false of.
  std::vector<uop::Value> (*values)(uop::DType type) = nullptr;
};

std::span<const Meaning> all_meanings();
// The row of this predicate, or null.
const Meaning* meaning_of(std::string_view predicate);

}  // namespace assay::props
