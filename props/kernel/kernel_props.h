#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/seen.h"
#include "oracles/workgroup/kernel_file.h"
#include "props/property.h"

// What must hold of the list of instructions that a kernel became (README.md).
namespace assay::props {

// No two work-items touch a byte, one of them writing, with nothing that orders them.
Checked kernel_races(const codegen::KernelSeen& seen, Context& context);
// Each barrier stands where the memory contract allows one, and all work-items of a group come to
// it together or none does.
Checked kernel_barriers(const codegen::KernelSeen& seen, Context& context);
// Each access lies inside its storage where its gate holds.
Checked kernel_bounds(const codegen::KernelSeen& seen, Context& context);
// Each element that the scheduled kernel stores once is stored once.
Checked kernel_stores(const codegen::KernelSeen& seen, Context& context);
// Each vector begins at a multiple of its width where that must be so.
Checked kernel_alignment(const codegen::KernelSeen& seen, Context& context);
// What is read of LOCAL storage and registers was written before, by this group or work-item.
Checked kernel_reads(const codegen::KernelSeen& seen, Context& context);
// Lists each barrier without which, alone, the kernel would have no race either.
Checked kernel_spare_barriers(const codegen::KernelSeen& seen, Context& context);

// What a property says of a kernel of a file.
struct FileChecked {
  std::string_view property;
  Checked checked;
};
// All that is said of a list read from a file (corpus/kernels), for the values that the file gives
// to variables. A fault that the file expects is a failure here; what fails and is neither expected
// nor allowed stands in `difference`, as does what is expected and does not fail.
struct KernelFileChecked {
  std::vector<FileChecked> properties;
  std::string difference;
  std::vector<std::string> unexpected;  // "race %7 %11"
};
Result<KernelFileChecked> check_kernel_file(workgroup::KernelFile& file, Context& context);

}  // namespace assay::props
