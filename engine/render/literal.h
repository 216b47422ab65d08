#pragma once

#include <string>

#include "engine/uop/value.h"

namespace assay::render {

// How tightly a piece of text holds together, as the precedence of C has it.
enum Precedence : uint8_t {
  kTernary = 1,
  kOr,
  kXor,
  kAnd,
  kEqual,
  kLess,
  kShift,
  kSum,
  kProduct,
  kUnary,  // casts too
  kPostfix,
  kPrimary,
};

// Appends OpenCL C that reads back to the bits of v, and says how tightly it holds. Its type is
// that of v, but for the integers below 32 bits and bool, which are written as an int of that
// value.
//
//   floats       0x1.8p+1f, whole numbers of few digits in full; NaN and infinities by their bits
//   half         as a float within a cast
//   integers     5, 5u, 5L, 5UL; the least ones as a difference, since - is no part of a literal
Precedence append_literal(std::string& out, uop::Value v);

}  // namespace assay::render
