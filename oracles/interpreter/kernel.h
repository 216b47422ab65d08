#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "engine/result.h"
#include "oracles/interpreter/kernel_shape.h"
#include "oracles/interpreter/plan.h"

namespace assay::interpreter {

// What a PARAM of a kernel stands for. A parameter of constant size is that of its argument where
// `exact`; otherwise the argument has room for it.
struct Argument {
  std::span<std::byte> bytes;
  DType dtype;
  int64_t size;
  bool exact;
  int64_t buffer;  // the number of its BUFFER, for messages
};

// Runs kernels, each planned once.
class Kernels {
 public:
  Kernels(uop::Graph& g, const Variables& variables) : graph_(g), variables_(variables) {}

  // An error is without the name of the kernel.
  Result<bool> run(uop::Ref kernel, std::span<const Argument> arguments);

 private:
  struct Planned {
    uint64_t aliases;
    Plan plan;
  };
  Result<const Plan*> plan(uop::Ref kernel, std::span<const Argument> arguments);

  uop::Graph& graph_;
  const Variables& variables_;
  std::unordered_map<uop::Ref, std::vector<Planned>> plans_;
  KernelShape shape_;
  std::vector<Slot> scratch_;
};

// Whether a parameter may be bound to storage of this type: to its own, and bool to bytes, since
// bool has no layout that a view of an arena could be cast to.
inline bool may_bind(uop::DType parameter, uop::DType storage) {
  return parameter == storage || (parameter == uop::Bool && storage == uop::U8);
}

}  // namespace assay::interpreter
