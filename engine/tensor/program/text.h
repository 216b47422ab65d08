#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"
#include "engine/tensor/program/program.h"

namespace assay::tensor {

// The .tp text of a program, one statement a line:
//
//   tp 1
//   # a comment
//   var n in 1..16 = 5
//   kernel 0: LOCAL(0,8) UPCAST(1,4)
//   a: f32[4, n] = input(random=normal, seed=7) on sim:1
//   b: f32[4] = sum(a, axes=[1])
//   v: f32[2] = slice(b, at=[0:4:2])
//   v := 0
//   c: f32[4] = copy(b) to sim:0
//   force c, a
//   expect b = [0, 1.5, 0, _]
//
// Errors name line, column and what was expected. What is checked here is what the text alone
// tells: names, the number of operands, kinds of attributes, literals at written types, versions.
// Types and shapes are checked where a program is built and where it is evaluated. `shard`,
// `capture`, `replay` and `image` are reserved and answered with "not in this engine yet".
Result<Program> from_text(std::string_view text);

// Canonical text: reading it gives the same program, and printing that the same text.
std::string to_text(const Program& program);

// Pieces of it, for messages.
std::string to_text(const Literal& literal);
std::string to_text(const Size& size, const std::vector<Variable>& variables);
std::string to_text(const Statement& statement, const Program& program);

}  // namespace assay::tensor
