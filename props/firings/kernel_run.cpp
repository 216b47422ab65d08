#include "props/firings/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "engine/codegen/pipeline.h"
#include "engine/uop/bounds.h"
#include "engine/uop/sample.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"
#include "oracles/passes/judge.h"
#include "oracles/workgroup/workgroup.h"

namespace assay::props {
namespace {

using interpreter::Variables;
using uop::AddrSpace;
using uop::Arg;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

constexpr int kKernelInputs = 3;
constexpr int64_t kMostSteps = int64_t{1} << 24;  // of the work-group machine

// The counters that a kernel of both sides has to be run for, and numbers that are free.
struct Lanes {
  std::vector<Ref> ranges;  // open around either side
  std::vector<Ref> specials;
  DType index = DType::Index;
  int64_t next_slot = 0;
  int32_t next_range = 0;
};

void add_lanes(Graph& g, Ref root, Lanes& lanes) {
  const auto add = [](std::vector<Ref>& list, Ref u) {
    if (std::find(list.begin(), list.end(), u) == list.end()) list.push_back(u);
  };
  for (const Ref r : uop::ranges(g, root)) add(lanes.ranges, r);
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op == Op::Special) add(lanes.specials, u);
    if (u->op == Op::Param) lanes.next_slot = std::max(lanes.next_slot, u->arg.number() + 1);
    if (u->op != Op::Range) continue;
    lanes.next_range = std::max(lanes.next_range, static_cast<int32_t>(u->arg.number()) + 1);
  }
  for (const Ref u : lanes.ranges) lanes.index = u->dtype;
  for (const Ref u : lanes.specials) lanes.index = u->dtype;
}

// Makes a kernel that shows what a node denotes.
class Shown {
 public:
  Shown(Graph& g, const Lanes& lanes) : g_(g), lanes_(lanes), slot_(lanes.next_slot) {}

  Ref kernel(Ref u) {
    const Ref place = u->op == Op::After ? uop::buffer(g_, u) : nullptr;
    if (place != nullptr && place->op == Op::Buffer) {
      show_storage(u, place, lanes_.ranges);
    } else if (u->dtype == DType::Void) {
      show_effect(u);
    } else {
      show_value(u);
    }
    return g_.make(Op::Sink, DType::Void, effects_, g_.info("shown", {}));
  }

 private:
  Ref number(int64_t n) { return g_.constant(lanes_.index, n); }
  Ref at_index_type(Ref u) {
    return u->dtype == lanes_.index ? u : g_.make(Op::Cast, lanes_.index, {u});
  }

  // An element of a new parameter, one for each value of these counters; row-major.
  Ref element(DType t, const std::vector<Ref>& counters) {
    Ref at = number(0);
    Ref all = number(1);
    for (const Ref c : counters) {
      const Ref size = at_index_type(c->src[0]);
      const Ref row = uop::is_const(at) ? at : g_.alu(Op::Mul, {at, size});
      const Ref counter = at_index_type(c);
      at = uop::is_const(row) ? counter : g_.alu(Op::Add, {row, counter});
      all = times(all, size);
    }
    const Ref param = g_.make(Op::Param, t, {all}, Arg::number(slot_++));
    return g_.make(Op::Index, t, {param, at});
  }
  Ref times(Ref a, Ref b) {
    if (!uop::is_const(a) || !uop::is_const(b)) return g_.alu(Op::Mul, {a, b});
    return number(static_cast<int64_t>(uop::as_int(a->value()) * uop::as_int(b->value())));
  }
  Ref closed(Ref effect, const std::vector<Ref>& loops) {
    std::vector<Ref> sources = {effect};
    const auto open = uop::ranges(g_, effect);
    for (const Ref r : loops) {
      if (std::find(open.begin(), open.end(), r) != open.end()) sources.push_back(r);
    }
    return sources.size() == 1 ? effect : g_.make(Op::End, DType::Void, sources);
  }
  std::vector<Ref> counters(const std::vector<Ref>& loops) const {
    std::vector<Ref> all = lanes_.specials;
    all.insert(all.end(), loops.begin(), loops.end());
    return all;
  }

  void show_value(Ref u) {
    const Ref to = element(u->dtype, counters(lanes_.ranges));
    const Ref store = g_.make(Op::Store, DType::Void, {to, u});
    effects_.push_back(closed(store, lanes_.ranges));
  }

  // Each element of storage that is named after effects, once in each turn of these loops.
  void show_storage(Ref state, Ref buffer, std::vector<Ref> loops) {
    const Ref size = at_index_type(buffer->src[0]);
    const Arg axis = Arg::axis(lanes_.next_range, uop::AxisType::Loop);
    const Ref i = g_.make(Op::Range, lanes_.index, {size}, axis);
    loops.push_back(i);
    const Ref to = element(state->dtype, counters(loops));
    const Ref from = g_.make(Op::Index, state->dtype, {state, i});
    const Ref value = g_.make(Op::Load, state->dtype, {from});
    const Ref store = g_.make(Op::Store, DType::Void, {to, value});
    effects_.push_back(closed(store, loops));
  }

  // And then what it left in storage of the group and of the work-item.
  void show_effect(Ref u) {
    const Ref done = closed(u, lanes_.ranges);
    effects_.push_back(done);
    std::vector<Ref> met;
    for (const Ref store : uop::toposort(g_, u)) {
      const Ref buffer = store->op == Op::Store ? uop::buffer(g_, store->src[0]) : nullptr;
      if (buffer == nullptr || buffer->op != Op::Buffer) continue;
      if (std::find(met.begin(), met.end(), buffer) != met.end()) continue;
      met.push_back(buffer);
      const bool is_local = buffer->arg.addr_space() == AddrSpace::Local;
      const Ref wait = is_local ? g_.make(Op::Barrier, DType::Void, {done}) : done;
      show_storage(g_.make(Op::After, buffer->dtype, {buffer, wait}), buffer, {});
    }
  }

  Graph& g_;
  const Lanes& lanes_;
  int64_t slot_;
  std::vector<Ref> effects_;
};

struct Kernels {
  Ref before;
  Ref after;
};

Variables some_values(Graph& g, Ref kernel, uop::Random& random) {
  Variables variables;
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != Op::Variable || variables.contains(u->arg.name())) continue;
    const uop::Bounds b = uop::bounds(g, u);
    const uop::Int128 hi = std::min(b.hi, b.lo + 7);
    variables[std::string(u->arg.name())] =
        static_cast<int64_t>(random.between(b.lo, std::max(b.lo, hi)));
  }
  return variables;
}

// The kernel for two groups along each axis at most: groups share no LOCAL storage.
Ref of_few_groups(Graph& g, Ref kernel) {
  uop::Substitution map;
  for (const Ref u : uop::toposort(g, kernel)) {
    const auto axis = u->op == Op::Special ? codegen::launch_axis(u->arg.name()) : std::nullopt;
    if (!axis || !axis->of_groups || !uop::is_const(u->src[0])) continue;
    if (uop::as_int(u->src[0]->value()) <= 2) continue;
    map[u] = g.with_sources(u, std::array{g.constant(u->dtype, 2)});
  }
  return uop::substitute(g, kernel, map);
}

// What the work-group machine finds in a kernel, by fault. Races are told by what orders accesses,
// so one interleaving shows them.
Result<std::set<std::string>> faults_of(Graph& g, Ref kernel, const oracles::KernelInputs& inputs,
                                        const uop::Target& target) {
  uop::Target device = target;
  if (!device.memory) device.memory = uop::MemoryContract{};
  // The barriers of the kernel are those that it has.
  uop::Run run(g, {}, nullptr, device);
  const Result<Ref> linear = uop::run_passes(codegen::late_passes().subspan(1), run, kernel);
  if (!linear.ok()) return linear.error();
  const std::vector<std::pair<std::string, int64_t>> values(inputs.variables.begin(),
                                                            inputs.variables.end());
  const auto launch = codegen::launch_sizes(g, kernel, values);
  if (!launch.ok()) return launch.error();
  std::vector<std::vector<std::byte>> bytes = inputs.arguments;
  std::vector<workgroup::Argument> arguments;
  for (std::vector<std::byte>& b : bytes) arguments.push_back({b, {}});
  workgroup::Options options;
  options.budget = kMostSteps;
  const auto report = workgroup::execute(g, linear.value(), arguments, inputs.variables,
                                         launch.value(), device, options);
  if (!report.ok()) return report.error();
  std::set<std::string> faults;
  for (const workgroup::Finding& f : report.value().findings) {
    faults.insert(std::string(workgroup::to_text(f.fault)));
  }
  return faults;
}

bool has_local(Graph& g, Ref kernel) {
  const std::vector<Ref> nodes = uop::toposort(g, kernel);
  return std::any_of(nodes.begin(), nodes.end(), [](Ref u) {
    return u->op == Op::Buffer && u->arg.addr_space() == AddrSpace::Local;
  });
}

// Whether `after` does what `before` does not.
std::optional<Outcome> new_faults(Graph& g, const Kernels& kernels,
                                  const oracles::KernelInputs& inputs, const uop::Target& target) {
  const auto old_ones = faults_of(g, kernels.before, inputs, target);
  const auto new_ones = faults_of(g, kernels.after, inputs, target);
  for (const auto* ran : {&old_ones, &new_ones}) {
    if (ran->ok()) continue;
    return Outcome{{Answer::Unknown, Strength::Sampled,
                    "not run on the work-group machine: " + to_string(ran->error())},
                   "not run"};
  }
  for (const std::string& fault : new_ones.value()) {
    if (old_ones.value().contains(fault)) continue;
    return Outcome{{Answer::Fail, Strength::Sampled,
                    "run on the work-group machine, only the second kernel has a fault: " + fault},
                   "work-group machine"};
  }
  return std::nullopt;
}

}  // namespace

Outcome judge_kernels(Graph& g, Ref before, Ref after, Context& context) {
  Graph own;
  // Cut down first: what is shown has an element for each work-item.
  const Ref sides[2] = {of_few_groups(own, uop::copy_to(own, g, before)),
                        of_few_groups(own, uop::copy_to(own, g, after))};
  Lanes lanes;
  for (const Ref side : sides) add_lanes(own, side, lanes);
  Kernels kernels = {sides[0], sides[1]};
  if (before->op != Op::Sink) {
    kernels.before = Shown(own, lanes).kernel(sides[0]);
    kernels.after = Shown(own, lanes).kernel(sides[1]);
  }
  uop::Random random(context.seed);
  for (uint64_t i = 0; i < kKernelInputs; i++) {
    const Variables variables = some_values(own, kernels.before, random);
    const auto inputs = oracles::small_inputs(own, kernels.before, variables, context.seed + i);
    if (!inputs.ok()) {
      return {{Answer::Unknown, Strength::Sampled, to_string(inputs.error())}, "not run"};
    }
    oracles::PassJudge judge(own, kernels.before, inputs.value());
    if (judge.verdict().answer != Answer::Pass) return {judge.verdict(), "not run"};
    static const uop::Pass firing = {
        .name = "firing", .accepts = uop::graph_spec(), .yields = uop::graph_spec(), .rules = {}};
    const std::optional<std::string> breach;
    judge.seen(uop::PassSeen{firing, own, kernels.before, kernels.after, 1, breach});
    if (judge.verdict().answer != Answer::Pass) return {judge.verdict(), "execution"};
    if (i > 0 || !has_local(own, kernels.before)) continue;
    const auto fault = new_faults(own, kernels, inputs.value(), context.target);
    if (fault) return *fault;
  }
  return {{Answer::Pass, Strength::Sampled, fmt::format("{} inputs", kKernelInputs)}, "execution"};
}

}  // namespace assay::props
