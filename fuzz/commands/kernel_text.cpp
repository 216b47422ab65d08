#include "fuzz/commands/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/uop/text.h"

namespace assay::fuzz {

using uop::Op;

Result<bool> read_kernel_text(std::string_view text, KernelText& kernel) {
  ASSAY_TRY(parsed, uop::from_text(kernel.file.graph, text));
  kernel.root = parsed.root;
  if (parsed.root->op == Op::Sink) return true;
  if (parsed.root->op != Op::Linear) {
    return Error{fmt::format(
        "it is neither a kernel of the schedule nor a list of instructions: its root is {}",
        uop::to_text(parsed.root->op))};
  }
  if (std::ranges::any_of(parsed.root->src, [](uop::Ref u) { return u->op == Op::Call; })) {
    return Error{"it is a list of calls, and no kernel"};
  }
  kernel.is_list = true;
  const Result<bool> read = workgroup::read_kernel(text, kernel.file);
  kernel.root = kernel.file.linear;
  return read;
}

Result<oracles::KernelChecked> check(KernelText& kernel, const oracles::KernelOptions& options) {
  if (!kernel.is_list) return oracles::check_kernel(kernel.file.graph, kernel.root, options);
  if (!options.lists.empty()) {
    return Error{"it is a list of instructions, for which opts come too late"};
  }
  return oracles::check_list(kernel.file, options);
}

}  // namespace assay::fuzz
