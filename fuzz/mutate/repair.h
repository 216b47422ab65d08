#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/tensor/program/program.h"

namespace assay::fuzz {

// What a statement defines, as far as an operand is chosen by it.
struct ValueFact {
  bool is_there = false;  // defined, and to be used
  uop::DType dtype = uop::DType::Void;
  std::vector<int64_t> shape;  // as the variables are bound where it is defined
  int32_t base = -1;           // of the value whose storage it names
  bool depends = false;        // on what a variable is bound to
  std::string device;          // "" is the default one
};

struct Repaired {
  std::vector<ValueFact> values;  // by statement, where the program ends
  std::vector<int64_t> bound;     // variables, there
  int changed = 0;                // statements that were written anew
  int dropped = 0;
};

// Makes a well-formed program of one that an edit left ill-typed, by trying what can be written in
// the place of a statement that the builder refuses: the type and shape that follow, contents that
// the type can hold, attributes as they are by default, other operands. What cannot be repaired is
// dropped, and values of its type and shape are used in its place. A well-formed program stays as
// it is. No value has more elements than `most_elements`, at the largest values of variables.
// Lines are counted anew, names are made unique.
Repaired repair(tensor::Program& program, int64_t most_elements);

// The most elements that a value of the program has, at the largest values of variables.
int64_t most_elements_of(const tensor::Program& program);

}  // namespace assay::fuzz
