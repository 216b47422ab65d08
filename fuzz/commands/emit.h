#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/schedule/schedule.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/target.h"

namespace assay::fuzz {

enum class Format : uint8_t { Text, Dot };

// What a stage is printed from.
struct Emission {
  uop::Graph& graph;
  const schedule::Schedule& schedule;
  const uop::Switches& switches;
  const uop::Target& target;
  Format format = Format::Text;
  int64_t first = 0;  // the number of its first kernel in the program
};

// One stage of a program on its way to a device that can be printed.
struct Stage {
  std::string name;
  std::string_view says;
  bool of_kernels;  // it is one of each kernel, not of the schedule
  std::function<Result<std::string>(const Emission&)> text;
};

// `tensor` to `opencl`. `pass:NAME` stands for each pass of code generation, by name.
std::vector<Stage> emit_stages();

}  // namespace assay::fuzz
