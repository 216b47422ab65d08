#pragma once

#include <string_view>

#include "engine/result.h"
#include "oracles/kernels/check_kernel.h"

namespace assay::fuzz {

// The kernel of a .uop file: of the schedule's form, or a list of instructions (corpus/kernels).
struct KernelText {
  workgroup::KernelFile file;  // its graph holds both
  uop::Ref root = nullptr;
  bool is_list = false;
};
// An error has its place in the text, or names what is no kernel.
Result<bool> read_kernel_text(std::string_view text, KernelText& kernel);

Result<oracles::KernelChecked> check(KernelText& kernel, const oracles::KernelOptions& options);

}  // namespace assay::fuzz
