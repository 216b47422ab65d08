#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"
#include "engine/uop/rewrite.h"

namespace assay::fuzz {

// One line of a file of index expressions: a JSON object with
//   max    the largest value of each of r0, r1, …, whose smallest is 0
//   index  a term over them, in prefix text
//   valid  where there is a gate, its conditions: all must hold
// What comes back is the JSON of the simplified line: `index`, `ops` (its distinct operations) and,
// for a gated one, `valid` and `valid_ops` (those of the conjunction). Errors name the column of
// the JSON text or, for a term, the column within it.
Result<std::string> simplify_index_line(std::string_view line, const uop::Switches& switches);

}  // namespace assay::fuzz
