#include "engine/codegen/pipeline.h"

#include <algorithm>
#include <vector>

#include "engine/codegen/apply_opts.h"
#include "engine/codegen/barriers.h"
#include "engine/codegen/coalesce.h"
#include "engine/codegen/control_flow.h"
#include "engine/codegen/decompose.h"
#include "engine/codegen/devectorize.h"
#include "engine/codegen/expand.h"
#include "engine/codegen/gates.h"
#include "engine/codegen/gpu_dims.h"
#include "engine/codegen/heuristic.h"
#include "engine/codegen/linearize.h"
#include "engine/codegen/load_collapse.h"
#include "engine/codegen/loads.h"
#include "engine/codegen/local_buffers.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/codegen/seen.h"

namespace assay::codegen {

std::span<const uop::Pass* const> pipeline() {
  static const std::vector<const uop::Pass*> passes = [] {
    std::vector<const uop::Pass*> list = {
        &load_collapse(),   &split_ranges(),    &simplify_kernel(),
        &simplify_ranges(), &choose_opts(),     &apply_opts(),
        &expander(),        &pm_reduce_local(), &pm_add_local_buffers(),
        &add_gpu_dims(),    &pm_add_loads(),    &devectorize(),
        &coalesce(),
    };
    list.insert(list.end(), decompose_passes().begin(), decompose_passes().end());
    list.insert(list.end(),
                {&move_gates(), &pm_implicit_barriers(), &add_control_flow(), &linearize()});
    return list;
  }();
  return passes;
}

std::span<const uop::Pass* const> early_passes() {
  const auto passes = pipeline();
  const auto last = std::ranges::find(passes, &simplify_ranges());
  return {passes.begin(), last + 1};
}

std::span<const uop::Pass* const> late_passes() {
  const auto passes = pipeline();
  const auto first = std::ranges::find(passes, &pm_implicit_barriers());
  return {first, passes.end()};
}

Result<uop::Ref> lower(uop::Run& run, uop::Ref kernel) {
  ASSAY_TRY(linear, run_passes(pipeline(), run, kernel));
  if (run.watch() != nullptr) run.watch()->seen(KernelSeen{run.graph(), kernel, linear});
  return linear;
}

}  // namespace assay::codegen
