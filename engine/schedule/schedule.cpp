#include "engine/schedule/schedule.h"

#include "engine/schedule/call.h"
#include "engine/schedule/copy.h"
#include "engine/schedule/kernel_graph.h"
#include "engine/schedule/order.h"
#include "engine/schedule/seen.h"
#include "engine/schedule/snapshot.h"

namespace assay::schedule {
namespace {

using uop::Op;
using uop::Run;

// What the watch makes of the result of a stage.
Ref edited(Run& run, std::string_view stage, Ref u) {
  return run.watch() == nullptr ? u : run.watch()->edit(stage, run.graph(), u);
}

// The kernels in order. A version that pins a circle is copied, so each turn takes a read of a
// version out of the circles, and there are not more of those than kernels.
Result<Ref> ordered(Run& run, Ref kernels) {
  Graph& g = run.graph();
  for (;;) {
    std::vector<Cycle> cycles;
    Result<Ref> linear = create_schedule(g, kernels, &cycles);
    if (linear.ok()) linear = edited(run, "schedule", linear.value());
    const bool is_stuck = !linear.ok() && (cycles.empty() || cycles.front().empty());
    if (run.watch() != nullptr && (linear.ok() || is_stuck)) {
      std::string_view error;
      if (!linear.ok()) error = linear.error().message;
      run.watch()->seen(ScheduleSeen{g, kernels, linear.ok() ? linear.value() : nullptr, error});
    }
    if (linear.ok() || is_stuck) return linear;
    kernels = break_cycles(g, kernels, cycles);
  }
}

// From the call to a list over the session's storage.
Result<bool> make_linear(Run& run, Session& session, const Options& options, Schedule& made) {
  Graph& g = run.graph();
  const Ref sink = edited(run, "tensor", made.call->src[0]);
  ASSAY_TRY(linear, lower_sink_to_linear(run, options.cache, options.target, sink, [&](Ref body) {
              return make_schedule(run, body, options.target);
            }));
  std::vector<Ref> call(made.call->src.begin(), made.call->src.end());
  call[0] = linear;
  int32_t next = session.next_buffer();
  ASSAY_TRY(bound,
            create_linear_with_vars(g, g.make(Op::Call, uop::Void, call, g.info("", {})), next));
  session.set_next_buffer(next);
  ASSAY_TRY(copied, pm_copy_from_store(run, bound.linear));
  made.linear = edited(run, "linear", copied);
  made.variables = std::move(bound.variables);
  return true;
}

Result<bool> plan_memory(Run& run, Session& session, const Options& options, Schedule& made) {
  std::vector<Ref> held;
  for (const Ref argument : made.call->src.subspan(1)) {
    if (argument->op == Op::Buffer) held.push_back(argument);
  }
  int32_t next = session.next_buffer();
  const PlanOptions how = {held, options.opted_in};
  ASSAY_TRY(planned, memory_plan_rewrite(run.graph(), made.linear, next, how));
  session.set_next_buffer(next);
  made.planned = edited(run, "planned", planned.linear);
  made.plan = std::move(planned.plan);
  if (run.watch() != nullptr) {
    run.watch()->seen(
        PlanSeen{run.graph(), made.linear, made.planned, made.plan, how, made.variables});
  }
  return true;
}

}  // namespace

Result<Ref> make_schedule(Run& run, Ref sink, const uop::Target& target) {
  ASSAY_TRY(kernels, get_kernel_graph(run, sink, target));
  return ordered(run, edited(run, "kernel_graph", kernels));
}

Result<Schedule> linear_with_vars(Session& session, std::span<const Tensor* const> tensors,
                                  const Options& options) {
  const int32_t first_buffer = session.next_buffer();
  const Realization picked = pick_outputs(session, tensors);
  Schedule made;
  if (!picked.sink->src.empty()) {
    Graph& g = session.graph();
    made.call = transform_to_call(g, picked.sink);
    Run run(g, options.switches, options.watch, options.target);
    Result<bool> done = make_linear(run, session, options, made);
    if (done.ok()) done = plan_memory(run, session, options, made);
    if (!done.ok()) {
      session.set_next_buffer(first_buffer);
      return done.error();
    }
  }
  session.apply_map_to_tensors(picked.map, picked.owners);
  return made;
}

}  // namespace assay::schedule
