#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/result.h"
#include "engine/tensor/program/program.h"

namespace assay::fuzz {

// All that decides what a trial does: a program (with its values, hints and the places where it is
// forced) and how it is compiled and run.
struct Case {
  tensor::Program program;
  std::string device = "sim:0";
  std::string profile;  // "" for what the device itself can do
  std::string opts;     // as `--opts` of all kernels; "" for the heuristic
  uint64_t seed = 1;    // of the orders of what is unordered
  // Where it is not empty there is no program but this .uop text: a kernel of the schedule's form
  // (stage "kernel"), or scalar terms (stage "term"), one text after the other.
  std::string graph = {};

  bool is_program() const { return graph.empty(); }
};

// Whether a device of that name is one of ours and no driver's.
inline bool is_simulated(std::string_view device) { return device.starts_with("sim"); }

// A program whose first comments say the rest, where it is not as above:
//
//   # device sim:random
//   # profile adreno-630
//   # opts random:7
//   # seed 3
//   tp 1
//   …
//
// so each case is a program file, and each program file a case. The same of a graph, whose text
// begins with `uop 1`.
std::string to_text(const Case& c);
// An error has its place in the text. The nodes of a graph are not read yet.
Result<Case> case_from_text(std::string_view text);

}  // namespace assay::fuzz
