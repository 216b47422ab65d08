#include <vector>

#include "engine/check.h"
#include "engine/runtime/executor.h"
#include "engine/schedule/calls.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "fuzz/targets/case_text.h"
#include "fuzz/targets/extra_counters.h"
#include "fuzz/targets/target.h"
#include "fuzz/trial/trial.h"
#include "oracles/kernels/check_kernel.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

constexpr const char* kDevice = "sim:0";

// Each kernel by itself: what it is lowered to computes on the machine what the interpreter makes
// of it as scheduled, over contents of its own.
void check_kernels(const Case& c, uop::Graph& g, const schedule::Schedule& made,
                   const oracles::KernelOptions& how) {
  for (const uop::Ref call : made.linear->src) {
    if (schedule::is_copy(call)) continue;
    uop::Graph own;
    const uop::Ref kernel = uop::copy_to(own, g, call->src[0]);
    const Result<oracles::KernelChecked> checked = oracles::check_kernel(own, kernel, how);
    if (!checked.ok()) continue;  // one that the interpreter refuses
    const oracles::Verdict& v = checked.value().verdict;
    ASSAY_CHECK(v.answer != oracles::Answer::Fail, "{}: {}\n{}", schedule::kernel_name(call),
                v.evidence, to_text(c));
  }
}

}  // namespace

void one_case(std::string_view text) {
  const std::optional<Case> c = case_to_try(text);
  if (!c) return;
  static const runtime::DeviceKind* const kKinds[] = {&workgroup::sim_kind()};
  runtime::Devices devices(kKinds, open_options(*c));
  runtime::Executor executor(devices);
  const Result<runtime::Device*> device = devices.open(kDevice);
  if (!device.ok()) return;
  Coverage coverage;
  oracles::KernelOptions how;
  how.seed = c->seed;
  how.executor = &executor;
  how.device = kDevice;
  how.watch = &coverage;
  if (!c->opts.empty()) {
    const Result<runtime::KernelLists> lists = runtime::lists_from_text(std::vector{c->opts});
    if (!lists.ok()) return;
    how.lists = lists.value();
  }
  const schedule::Options schedule = {.target = device.value()->target(), .watch = &coverage};
  tensor::Session session;
  tensor::Builder builder(session, c->program);
  const auto force = [&](std::span<const tensor::Tensor* const> tensors) -> Result<bool> {
    ASSAY_TRY(made, schedule::linear_with_vars(session, tensors, schedule));
    if (made.call != nullptr) check_kernels(*c, session.graph(), made, how);
    return true;
  };
  const Result<bool> done = builder.run(force);
  (void)done;  // what is refused has no kernels
  count_features(coverage.take());
}

}  // namespace assay::fuzz
