#include "engine/codegen/pipeline.h"

#include <algorithm>
#include <vector>

#include "engine/codegen/apply_opts.h"
#include "engine/codegen/heuristic.h"
#include "engine/codegen/load_collapse.h"
#include "engine/codegen/ranges.h"

namespace assay::codegen {

std::span<const uop::Pass* const> pipeline() {
  static const std::vector<const uop::Pass*> passes = {
      &load_collapse(),   &split_ranges(), &simplify_kernel(),
      &simplify_ranges(), &choose_opts(),  &apply_opts(),
  };
  return passes;
}

std::span<const uop::Pass* const> early_passes() {
  const auto passes = pipeline();
  const auto last = std::ranges::find(passes, &simplify_ranges());
  return {passes.begin(), last + 1};
}

Result<uop::Ref> lower(uop::Run& run, uop::Ref kernel) {
  return run_passes(pipeline(), run, kernel);
}

}  // namespace assay::codegen
