#pragma once

#include <cstdint>

#include "engine/result.h"
#include "engine/runtime/kernel_lists.h"
#include "engine/schedule/cache.h"
#include "engine/tensor/program/program.h"
#include "engine/uop/rewrite.h"
#include "props/verifier.h"

namespace assay::props {

// How what is verified is compiled; for the target of the verifier's context.
struct CompileOptions {
  runtime::KernelLists lists = {};
  uop::Switches switches = {};
  schedule::Cache* cache = nullptr;
};

// Takes a program through the compiler, from its statements to the LINEAR of each kernel, and runs
// nothing. The verifier sees every stage. How many kernels there were; an error is what the
// compiler refuses.
Result<int64_t> compile(const tensor::Program& program, const CompileOptions& options,
                        Verifier& verifier);
// The same of a kernel of the schedule's form.
Result<int64_t> compile(uop::Graph& g, uop::Ref kernel, const CompileOptions& options,
                        Verifier& verifier);

}  // namespace assay::props
