#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/target.h"
#include "engine/uop/text.h"
#include "oracles/workgroup/workgroup.h"

// A LINEAR as a file, with what is expected of it in its first lines: corpus/kernels.
namespace assay::workgroup {

//   # What it does, in a sentence.
//   # launch 2 1 1 x 8 1 1           work-groups x work-items of each
//   # set n 5                        the value of a variable
//   # unknown 0                      the bytes of an argument that nobody wrote before the launch
//   # in 1: 5 7                      what argument 1 begins with before the launch
//   # alias 1 0 4                    argument 1 is argument 0 from byte 4 on
//   # contract in_loop nowhere       what the target's memory contract says otherwise
//   # expect race %7 %11             found whatever the interleaving; nodes in rising order
//   # may uninitialised %11          found in some interleavings
//   # out 0: 3 2 1                   what argument 0 is after the launch, whatever the interleaving
//
// Nodes are called by their places in the LINEAR. Element i of argument s is (7 i + 3 s) mod 11
// before the launch, where nothing else is said. Where no launch is given, it is what the SPECIALs
// ask for; where nothing is expected, nothing may be found.
struct KernelFile {
  uop::Graph graph;
  uop::Ref linear = nullptr;
  Launch launch;
  Variables variables;
  uop::Target target;
  std::vector<std::string> expected;
  std::vector<std::string> allowed;
  std::map<int, std::vector<double>> contents;
  std::map<int, std::vector<double>> results;
  std::set<int> unknown;
  struct Alias {
    int slot;
    int64_t offset;
  };
  std::map<int, Alias> aliases;
};

// One argument of a launch, over bytes that others may share.
struct KernelArguments {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::vector<uint8_t>> known;
  std::vector<Argument> arguments;
};

// Reads the text into a KernelFile, which is empty. An error has its place in the text.
Result<bool> read_kernel(std::string_view text, KernelFile& kernel);
// An error names what of a PARAM has no size.
Result<KernelArguments> arguments_of(KernelFile& kernel);
// The numbers that an argument's PARAM has.
std::vector<double> numbers_of(KernelFile& kernel, const KernelArguments& arguments, int slot);
// "race %7 %11", as an expectation is written.
std::string brief(const Finding& finding);

// Runs the kernel in every interleaving. What is not as it is expected, a line each; "" where all
// is. An error is that of execute().
Result<std::string> difference(KernelFile& kernel);
// What of an argument after a launch is not as `out` says; "" where nothing is.
std::string difference(KernelFile& kernel, const KernelArguments& arguments);

}  // namespace assay::workgroup
