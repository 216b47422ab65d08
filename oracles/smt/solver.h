#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracles/smt/evaluate.h"
#include "oracles/smt/formula.h"

namespace assay::smt {

enum class Satisfiable : uint8_t { No, Yes, Unknown };

// What a solver says. A model is claimed, not checked.
struct Solved {
  Satisfiable answer = Satisfiable::Unknown;
  std::vector<Number> model;  // by variable
  int64_t steps = 0;          // as this solver counts them
  std::string why;            // of Unknown
};

// Asks Z3, in this process, for at most so many of its steps (rlimit). No time is limited, since
// Z3's timers deadlock: whoever asks must be able to kill it (child.h).
Solved ask_z3(const Formula& f, int64_t steps);

// The same of cvc5 (cvc5.cpp).
Solved ask_cvc5(const Formula& f, int64_t steps);
std::string cvc5_version();

// Names and versions of both: "Z3 4.8.12, cvc5 1.0.3".
std::string solver_versions();

// The sizes of a float sort as solvers count them: exponent, and significand with its hidden bit.
struct FloatBits {
  uint32_t exponent;
  uint32_t significand;
};
FloatBits float_bits(uop::DType type);

// An integer in decimal, and back.
std::string decimal(Int128 n);
Int128 from_decimal(std::string_view text);

}  // namespace assay::smt
