#pragma once

#include <list>
#include <span>
#include <vector>

#include "oracles/reference/evaluating.h"

namespace assay::reference {

// The operands of an op as its function is given them.
struct Prepared {
  std::vector<const Array*> operands;  // nullptr where one is absent
  std::list<Array> held;               // those that are numbers or were promoted
};

// Gives numbers their type, promotes what the row says is promoted, and checks all types against
// the row. `values` are the operands that are values, nullptr for the others; they may be shown
// without elements where none are cast.
Result<Prepared> prepare(const tensor::Define& define, std::span<const Array* const> values);

}  // namespace assay::reference
