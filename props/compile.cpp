#include "props/compile.h"

#include <fmt/format.h>

#include "engine/codegen/pipeline.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "oracles/kernels/check_kernel.h"

namespace assay::props {
namespace {

using schedule::Schedule;

std::string name_of(int64_t number, uop::Ref call) {
  return fmt::format("kernel {} {}", number, schedule::kernel_name(call));
}

// Lowers the kernels of a schedule, the first of which is kernel `first` of the program.
Result<bool> lower_all(uop::Graph& g, const Schedule& schedule, const CompileOptions& options,
                       int64_t first, Verifier& verifier) {
  const uop::Target& target = verifier.context().target;
  const auto target_of = [&](std::string_view) -> Result<const uop::Target*> { return &target; };
  ASSAY_TRY(listed, runtime::with_lists(g, schedule, options.lists, first, target_of,
                                        options.switches, &verifier));
  for (size_t k = 0; k < listed.linear->src.size(); ++k) {
    const uop::Ref call = listed.linear->src[k];
    if (schedule::is_copy(call)) continue;
    const std::string name = name_of(first + static_cast<int64_t>(k), call);
    verifier.name_kernel(name);
    uop::Run run(g, options.switches, &verifier, target);
    const Result<uop::Ref> lowered = codegen::lower(run, call->src[0]);
    verifier.name_kernel("");
    if (!lowered.ok()) return Error{fmt::format("{}: {}", name, lowered.error().message)};
  }
  return true;
}

}  // namespace

Result<int64_t> compile(const tensor::Program& program, const CompileOptions& options,
                        Verifier& verifier) {
  CompileOptions own = options;
  ASSAY_TRY(lists, runtime::with_hints(options.lists, program));
  own.lists = std::move(lists);
  schedule::Options how = {.target = verifier.context().target,
                           .switches = options.switches,
                           .watch = &verifier,
                           .cache = options.cache};
  tensor::Session session;
  tensor::Builder builder(session, program);
  int64_t kernels = 0;
  const auto force = [&](std::span<const tensor::Tensor* const> tensors) -> Result<bool> {
    ASSAY_TRY(made, schedule::linear_with_vars(session, tensors, how));
    if (made.call == nullptr) return true;
    const Result<bool> lowered = lower_all(session.graph(), made, own, kernels, verifier);
    if (!lowered.ok()) return lowered.error();
    kernels += static_cast<int64_t>(made.linear->src.size());
    return true;
  };
  const Result<bool> done = builder.run(force);
  if (!done.ok()) return done.error();
  const Result<bool> within = own.lists.within(kernels);
  if (!within.ok()) return within.error();
  return kernels;
}

Result<int64_t> compile(uop::Graph& g, uop::Ref kernel, const CompileOptions& options,
                        Verifier& verifier) {
  ASSAY_TRY(call, oracles::one_call(g, kernel, "sim:0", {}));
  const Result<bool> lowered = lower_all(g, call, options, 0, verifier);
  if (!lowered.ok()) return lowered.error();
  return 1;
}

}  // namespace assay::props
