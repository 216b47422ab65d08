#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/runtime/executor.h"
#include "engine/runtime/kernel_lists.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/program/program.h"
#include "oracles/compare.h"
#include "oracles/verdict.h"

namespace assay::oracles {

// What a program is taken through.
struct CheckOptions {
  bool tensor_graph = true;  // interpret what was to be scheduled
  bool kernels = true;       // the LINEAR, over storage of its own for each buffer
  bool planned = true;       // the LINEAR over arenas, in an order that its edges allow
  uint64_t seed = 1;         // of that order
  bool keep_values = false;  // as text, in Judged
  bool arenas = true;        // the device runs the LINEAR over arenas, where schedule has any
  schedule::Options schedule = {};
  // Runs the program as well, at stage "device"; null: nothing does.
  runtime::Executor* executor = nullptr;
  std::string device = "sim:0";     // where values are whose text does not say
  int64_t limit_ms = 0;             // for what a device is given at once; 0: for ever
  runtime::KernelLists lists = {};  // of kernels on the device; the program's hints give the others
};

// One value at one stage.
struct Judged {
  std::string value;       // its name
  int line = 0;            // of the force or expect that reads it; 0 at the end of the program
  std::string_view stage;  // "tensor", "kernels", "planned", "device", "expect"
  Comparison comparison;
  // "f32[3] [1, 2.5, nan]", at stages "kernels" and "device", where values are kept.
  std::string text;
};

// Where the time of a check goes, in nanoseconds. What a watch takes is in the part that shows it.
struct Spent {
  int64_t reference = 0;  // its evaluation
  int64_t compile = 0;    // building, scheduling
  int64_t execute = 0;    // code generation, a device's own compiler, runs
  int64_t interpret = 0;  // of stages
  int64_t compare = 0;    // reading what devices hold, and comparing it
};

struct Checked {
  Verdict verdict;
  // Where a failure shows: the stage of a value, or "refusal" where the engine and the reference
  // differ in what they refuse.
  std::string_view failed_at;
  std::vector<Judged> judged;
  std::string refused;  // the error of building or scheduling, if there was one
  // Refused by the reference as well, and not expected to be; or what it or a command says of how
  // its kernels are made cannot be.
  bool malformed = false;
  int schedules = 0;
  int kernels = 0;
  int copies = 0;
  int64_t planned_bytes = 0;
  int64_t lower_bound_bytes = 0;
  std::vector<runtime::Ran> runs;  // on devices, one a schedule and repetition
  Spent spent;
};

// Builds the program, schedules what it forces, runs each stage in the interpreter and compares
// every output with the reference, whose bounds are those of the devices that it runs on, and the
// reference with what the program expects. A program that the engine refuses passes only where it
// expects an error of that text. What is too large to evaluate or to interpret is unknown, and so
// is what needs a type that the device neither has nor can emulate.
Checked check(const tensor::Program& program, const CheckOptions& options = {});

// Has the devices of the executor know of the kernels that check() will have them build
// (runtime::Device::foresee). Nothing runs, and nothing is judged.
void foresee(const tensor::Program& program, const CheckOptions& options);

}  // namespace assay::oracles
