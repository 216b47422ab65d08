#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracles/smt/formula.h"

namespace assay::smt {

// A question without what does not matter to it: names, the order in which terms were made and in
// which commuting operands stand, terms that nothing needs. Equal forms are equal questions; equal
// questions mostly have equal forms.
struct Canonical {
  Formula formula;                // variables are called by their places
  std::vector<uint32_t> origins;  // the place that each of its variables has in the question
  std::string bytes;              // all of it, as a child process reads it
};
Canonical canonical(const Formula& f);

// A formula as bytes and back. Names are left out.
std::string to_bytes(const Formula& f);
Formula from_bytes(std::string_view bytes);

}  // namespace assay::smt
