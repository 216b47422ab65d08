#include <algorithm>

#include "engine/codegen/pipeline.h"
#include "engine/codegen/random_opts.h"
#include "oracles/passes/random_kernel.h"
#include "props/firings/stock.h"

namespace assay::props {

const uop::Target& stock_target() {
  static const uop::Target target = oracles::random_target();
  return target;
}

Result<uop::Ref> kernel_stock(uop::Graph& g, oracles::Choices& choices) {
  const uop::Ref kernel = oracles::RandomKernel(g, choices.below(uint64_t{1} << 32)).make();
  uop::Run run(g, {}, nullptr, stock_target());
  ASSAY_TRY(listed, codegen::with_random_opts(run, kernel, choices.random()));
  const auto passes = codegen::pipeline();
  const auto late = codegen::late_passes();
  return uop::run_passes(passes.first(passes.size() - late.size()), run, listed);
}

}  // namespace assay::props
