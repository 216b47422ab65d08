#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/kernel_lists.h"
#include "engine/tensor/builder.h"
#include "fuzz/bench/contender.h"

namespace assay::fuzz::bench {

// What keeps a program from being run over and over: it forces other than one value, or it has
// variables, writes or binds.
std::optional<Error> timing_error(const tensor::Program& program);

// A program on a device as the engine makes it: scheduled, lowered and built once.
class Ours {
 public:
  // The program has no timing_error, and outlives what is made. Its kernels are made by these lists
  // of opts; the heuristic has the others.
  static Result<std::unique_ptr<Ours>> make(const tensor::Program& program,
                                            const runtime::KernelLists& lists,
                                            runtime::Devices& devices, std::string_view device);
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;

  const Contender& contender() const { return contender_; }
  // The program's inputs, in the order of its text.
  std::span<const runtime::View> inputs() const { return inputs_; }
  // Operations of floats as the program has them, before kernels are optimized.
  int64_t operations() const { return operations_; }
  // Of inputs and value, each once.
  int64_t bytes() const { return bytes_; }

 private:
  Ours(const tensor::Program& program, runtime::Devices& devices, std::string_view device)
      : program_(program),
        session_(device),
        builder_(session_, program),
        devices_(devices),
        executor_(devices),
        buffers_(devices) {}
  std::optional<Error> build(const runtime::KernelLists& lists);
  std::optional<Error> run(const schedule::Schedule& schedule);

  const tensor::Program& program_;
  tensor::Session session_;
  tensor::Builder builder_;
  runtime::Devices& devices_;
  runtime::Executor executor_;
  runtime::Buffers buffers_;
  Contender contender_;
  std::vector<runtime::View> inputs_;
  int64_t operations_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace assay::fuzz::bench
