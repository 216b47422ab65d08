#include "engine/codegen/pipeline.h"

#include <vector>

#include "engine/codegen/barriers.h"
#include "engine/codegen/control_flow.h"
#include "engine/codegen/linearize.h"

namespace assay::codegen {

std::span<const uop::Pass* const> pipeline() {
  static const std::vector<const uop::Pass*> passes = {
      &pm_implicit_barriers(),
      &add_control_flow(),
      &linearize(),
  };
  return passes;
}

Result<uop::Ref> lower(uop::Run& run, uop::Ref kernel) {
  return run_passes(pipeline(), run, kernel);
}

}  // namespace assay::codegen
