#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracles/smt/evaluate.h"
#include "oracles/smt/formula.h"

namespace assay::smt {

// How many values of its variables a formula has; nothing where there is no end, or more than
// `most`. Variables that nothing needs have one.
std::optional<uint64_t> count_points(const Formula& f, uint64_t most);

struct Enumerated {
  bool is_known = false;  // false: a term that matters has no value at some point
  bool is_satisfiable = false;
  std::vector<Number> model;  // where it is
  uint64_t points = 0;        // that were evaluated
};
// Evaluates all points, of which there are count_points(), until one satisfies.
Enumerated enumerate(const Formula& f);

}  // namespace assay::smt
