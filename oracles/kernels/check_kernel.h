#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/kernel_lists.h"
#include "engine/schedule/schedule.h"
#include "oracles/verdict.h"
#include "oracles/workgroup/kernel_file.h"

// A kernel on its own, as a file holds it.
namespace assay::oracles {

struct KernelOptions {
  uint64_t seed = 1;  // of what arguments hold, and of the values of variables
  runtime::Executor* executor = nullptr;
  std::string device;
  runtime::KernelLists lists = {};  // of kernel 0
  uop::Switches switches = {};
  uop::Watch* watch = nullptr;
  int64_t limit_ms = 0;
};

// The bytes of an argument once the kernel has run.
struct KernelArgument {
  uop::DType dtype = uop::DType::Void;
  std::vector<std::byte> bytes;
};

struct KernelChecked {
  Verdict verdict;
  std::vector<KernelArgument> arguments;  // by slot, on the device; none where it did not run
  std::vector<runtime::Ran> runs;         // one, or none where the kernel did not run on a device
};

// A schedule of that kernel alone, each PARAM a BUFFER of its slot's number on the device. An error
// says why the kernel cannot be called.
Result<schedule::Schedule> one_call(uop::Graph& g, uop::Ref kernel, std::string_view device,
                                    const interpreter::Variables& variables);
// Values for the variables of a kernel, within their bounds and small.
interpreter::Variables some_variables(uop::Graph& g, uop::Ref kernel, uint64_t seed);

// Runs a kernel of the schedule's form (engine/schedule/README.md) on the device, over small
// integers, and in the interpreter, which knows nothing of code generation; what they store must
// agree. Unknown where it does not and need not. An error is a graph of another form, a kernel that
// the interpreter refuses, or a list that is illegal.
Result<KernelChecked> check_kernel(uop::Graph& g, uop::Ref kernel, const KernelOptions& options);
// Has the device know of the kernel that check_kernel() will have it build
// (runtime::Device::foresee). An error as there.
Result<bool> foresee_kernel(uop::Graph& g, uop::Ref kernel, const KernelOptions& options);

// Runs a list of instructions as it is on the machine, in every interleaving, and holds it against
// what its file says; then on the device, if that is another than the machine and nothing may go
// wrong with the kernel. An error is a list that the machine refuses.
Result<KernelChecked> check_list(workgroup::KernelFile& file, const KernelOptions& options);

}  // namespace assay::oracles
