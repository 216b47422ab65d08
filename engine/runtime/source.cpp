#include "engine/runtime/source.h"

namespace assay::runtime {

Result<KernelText> render_kernel(Graph&, Ref, const Target& target, std::string_view, uop::Watch*) {
  return Error{"there is no renderer for " + target.name, 0, 0};
}

}  // namespace assay::runtime
