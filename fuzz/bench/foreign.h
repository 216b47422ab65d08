#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/opencl/device.h"
#include "fuzz/bench/contender.h"

namespace assay::fuzz::bench {

// A kernel that someone else wrote.
struct ForeignKernel {
  std::string file;  // of the folder
  std::string name;  // of the function in it
  std::string text;  // of the file, once it has been read
  runtime::Launch sizes;
  std::vector<int64_t> buffers;  // by argument; the first is the one that it writes
};

// A program as kernels in order. Buffers that none of them writes are its inputs, by rising number;
// what the last one writes is its value.
struct ForeignProgram {
  std::string name;
  std::vector<ForeignKernel> kernels;  // at least one
  std::map<int64_t, int64_t> bytes;    // of each buffer, by number

  std::vector<int64_t> inputs() const;
  int64_t output() const { return kernels.back().buffers[0]; }
};

// What an index.json says: a list of {program, kernels}, each kernel {file, name, global, local,
// args}, with the number of groups and the size of a group along three axes, and each argument
// {buffer, elements, dtype}, its type as OpenCL C names it. An error names program and kernel.
Result<std::vector<ForeignProgram>> foreign_programs(std::string_view index);

// Kernels of someone else on a device, and the storage that they write.
class Foreign {
 public:
  // `inputs` are the program's inputs in order. An error names the kernel at fault, with what its
  // compiler said.
  static Result<std::unique_ptr<Foreign>> make(runtime::opencl::OpenclDevice& device,
                                               const ForeignProgram& program,
                                               std::span<const runtime::View> inputs);
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;
  ~Foreign();

  const Contender& contender() const { return contender_; }

 private:
  explicit Foreign(runtime::opencl::OpenclDevice& device) : device_(device) {}
  std::optional<Error> give_storage(const ForeignProgram& program,
                                    std::span<const runtime::View> inputs);
  std::optional<Error> build(const ForeignProgram& program, const ForeignKernel& kernel);

  runtime::opencl::OpenclDevice& device_;
  std::map<int64_t, runtime::View> views_;  // by number of the buffer
  std::vector<runtime::StorageId> storages_;
  std::vector<runtime::KernelId> kernels_;
  Contender contender_;
};

}  // namespace assay::fuzz::bench
