#pragma once

#include <string_view>

#include "engine/render/source.h"
#include "engine/result.h"
#include "engine/uop/target.h"

namespace assay::render {

// The text of a LINEAR (codegen/README.md, Forms) for the target, in OpenCL C. The function is
// named after the kernel, or `name` where it is given (letters, digits and _ only), so that many
// kernels can stand in one program. An error names the operation that the language has no text for.
Result<Source> render(uop::Graph& g, uop::Ref linear, const uop::Target& target,
                      std::string_view name = {});

}  // namespace assay::render
