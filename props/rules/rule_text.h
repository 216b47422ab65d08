#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "engine/result.h"
#include "engine/uop/rule.h"

namespace assay::props {

// A rule read from text, with what its names point into.
struct TextRule {
  std::deque<std::string> names;
  uop::Rule rule;
};

// Reads one rule:
//
//   (x / c) / d => x / (c * d) : index when c > 0 && d > 0
//   [name:] match => replacement : types [when guard]
//
// - Operators as in C, and by its precedence: || && | ^ & == != < <= > >= << >> + - * / % ! ~ -.
//   `/` and `%` round down, of floats `/` is fdiv. tdiv and tmod stand where * does. Functions are
//   those of op.def by name (min, max, where, pow, fma, …); cast(x, type) and bitcast(x, type);
//   `invalid`, `true`, `false` and whole numbers.
// - A name is a hole: any term. It is a constant where it is written #c, and everywhere in a rule
//   whose guard uses it by itself (c > 0), or in a test of constants (minus_zero(c)). unread(x) is
//   a hole that the match does not read.
// - The guard speaks of exact integers: constants, lo(x) and hi(x), + - * / % min max, comparisons,
//   && || !, and tests by name (never_invalid(x); props/rules/meaning.h lists them).
// - Types are names of types and of sets (ints index floats bool signed unsigned numbers scalars
//   logic), with blanks, commas or + between them.
//
// An error's column counts from 1.
Result<std::unique_ptr<TextRule>> parse_rule(std::string_view text);

// A pattern or guard as parse_rule() reads it.
std::string to_infix(const uop::Pat& pat);

}  // namespace assay::props
