#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"
#include "engine/runtime/device.h"

namespace assay::runtime {

// A kernel as text for a compiler of OpenCL C.
struct KernelText {
  std::string name;  // of the function
  std::string text;
};

// What makes it from a LINEAR: the renderer of the target's language. The function is named after
// the kernel, or `name` where that is not "".
using Render = Result<KernelText> (*)(Graph& g, Ref linear, const Target& target,
                                      std::string_view name, uop::Watch* watch);
Result<KernelText> render_kernel(Graph& g, Ref linear, const Target& target, std::string_view name,
                                 uop::Watch* watch);

}  // namespace assay::runtime
