#include "fuzz/blame/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/codegen/pipeline.h"
#include "engine/runtime/devices.h"
#include "engine/runtime/kernel_lists.h"
#include "engine/schedule/call.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/uop/bounds.h"
#include "engine/uop/pass.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"
#include "fuzz/blame/blame_kernel.h"
#include "fuzz/blame/blame_pass.h"
#include "fuzz/blame/firing.h"
#include "fuzz/blame/meaning.h"
#include "oracles/interpreter/extension.h"
#include "oracles/interpreter/poison.h"

namespace assay::fuzz {
namespace {

using schedule::Schedule;
using uop::Graph;
using uop::Op;
using uop::Ref;

// How far floats may be off from one stage to the next: what is clearly wrong is looked for first,
// and what is off at all at last. Not what may be off so far (rounding_of).
constexpr double kRooms[] = {64, 16, 4, 1, 0};
// What an order of steps, or the function of a device, may round otherwise.
constexpr uop::OpSet kFree = {Op::FDiv, Op::Recip, Op::Sqrt, Op::Exp, Op::Exp2, Op::Log,
                              Op::Log2, Op::Sin,   Op::Cos,  Op::Tan, Op::Pow};
constexpr uint64_t kOrders = 12;  // of a list of calls that are tried

// Whether a graph goes wrong when it runs, unlike one that is not for the interpreter.
bool is_of_a_run(const Error& error) {
  return error.message.find(" element ") != std::string::npos;
}

// The most elements that a list of sizes has.
double most_elements(Graph& g, uop::Shape sizes) {
  return static_cast<double>(uop::bounds(g, uop::size_of(g, sizes)).hi);
}

// How many elements a REDUCE folds: of its axes, or of its RANGEs.
double folded(Graph& g, Ref reduce) {
  double count = 1;
  for (const Ref r : reduce->src.subspan(1)) count *= static_cast<double>(uop::bounds(g, r).hi + 1);
  const double kept = most_elements(g, uop::shape(g, reduce));
  return kept == 0 ? 1 : count * most_elements(g, uop::shape(g, reduce->src[0])) / kept;
}

// By how many units in the last place what is right may be off: a sum in another order errs like a
// walk at random, whose length is the root of its steps.
double rounding_of(Graph& g, Ref root) {
  double most = 0;
  for (const Ref u : uop::toposort(g, root)) {
    if (!uop::is_float(u->dtype)) continue;
    const bool is_sum = u->op == Op::Reduce && uop::OpSet{Op::Add, Op::Mul}.has(u->arg.fold_op());
    if (kFree.has(u->op)) most = std::max(most, 1.0);
    if (is_sum) most = std::max({most, 1.0, std::sqrt(folded(g, u))});
  }
  return std::min(most, kRooms[0]);
}

// What the compiler left at each stage, passes among them.
class Stages : public uop::Watch {
 public:
  struct Stage {
    std::string name;
    Ref graph = nullptr;
    Ref before = nullptr;  // of a pass
    const uop::Pass* pass = nullptr;
    uint64_t firings = 0;
    std::optional<std::string> breach;
  };

  Ref edit(std::string_view stage, Graph&, Ref u) override {
    stages.push_back({std::string(stage), u, nullptr, nullptr, 0, std::nullopt});
    return u;
  }
  using Watch::seen;
  void seen(const uop::PassSeen& seen) override {
    if (stages.empty() || stages.back().name != seen.pass.name) return;
    Stage& s = stages.back();
    s.before = seen.before;
    s.pass = &seen.pass;
    s.firings = seen.firings;
    s.breach = seen.breach;
  }

  std::vector<Stage> stages;
};

class Walk {
 public:
  Walk(const Case& c, runtime::Devices& devices, const uop::Switches& switches, uop::Watch* watch,
       double ulps)
      : case_(c),
        devices_(devices),
        switches_(switches),
        watch_(watch),
        ulps_(ulps),
        session_(c.device),
        builder_(session_, c.program) {}

  // The blame, or none where every stage means what the one before does.
  Blame run() {
    const Result<runtime::Device*> device = devices_.open(case_.device);
    if (!device.ok()) return {};
    target_ = &device.value()->target();
    if (!read_lists()) return {};
    const std::vector<tensor::Output> outputs = tensor::outputs(case_.program);
    const size_t count = case_.program.statements.size();
    size_t next = 0;
    for (size_t k = 0; k <= count && !is_done_; k++) {
      if (k < count && !builder_.step(k).ok()) break;
      for (const tensor::InitialContents& input : builder_.take_contents()) {
        std::ranges::copy(input.bytes, memory_.of(session_.graph(), input.buffer).begin());
      }
      std::vector<const tensor::Tensor*> tensors;
      for (; next < outputs.size() && static_cast<size_t>(outputs[next].statement) == k; next++) {
        tensors.push_back(&builder_.tensor(outputs[next].value));
      }
      if (!tensors.empty()) force(tensors);
      if (k < count) builder_.finish(k);
    }
    return std::move(blame_);
  }

 private:
  bool read_lists() {
    runtime::KernelLists lists;
    if (!case_.opts.empty()) {
      Result<runtime::KernelLists> own = runtime::lists_from_text(std::vector{case_.opts});
      if (!own.ok()) return false;
      lists = std::move(own).value();
    }
    Result<runtime::KernelLists> hinted = runtime::with_hints(std::move(lists), case_.program);
    if (!hinted.ok()) return false;
    lists_ = std::move(hinted).value();
    return true;
  }

  void done(Blame blame) {
    blame_ = std::move(blame);
    is_done_ = true;
  }
  void done(std::string stage, std::string evidence) {
    Blame blame;
    blame.title = fmt::format("{}: {}", stage, evidence.substr(0, 160));
    blame.stage = std::move(stage);
    blame.evidence = std::move(evidence);
    done(std::move(blame));
  }

  void force(std::span<const tensor::Tensor* const> tensors) {
    Graph& g = session_.graph();
    Stages stages;
    Watches watches({watch_, &stages});
    const Result<Schedule> made = schedule::linear_with_vars(
        session_, tensors,
        {.target = *target_, .switches = switches_, .watch = &watches, .cache = nullptr});
    const Ref whole = made.ok() ? made.value().call : refused_call(tensors);
    if (whole == nullptr) return;
    const Called call = called(g, whole, memory_);
    Result<Contents> meant = meaning_of_sink(call, whole->src[0]);
    if (!meant.ok()) return;
    Contents wanted = std::move(meant).value();
    if (interpreter::may_lack_value(g, whole->src[0])) {
      mark_open(wanted, [&] { return meaning_of_sink(call, whole->src[0]); });
    }
    const bool judges_schedule = has_room(whole->src[0]);
    if (judges_schedule) judge_stages(call, wanted, stages);
    if (is_done_) return;
    if (!made.ok()) {
      const std::string last = stages.stages.empty() ? "tensor" : stages.stages.back().name;
      return done(last, made.error().message);
    }
    const Schedule& s = made.value();
    if (judges_schedule) judge_orders(call, wanted, stages);
    if (is_done_) return;
    judge_kernels(s);
    number_ += static_cast<int64_t>(s.linear->src.size());
  }

  // What was to be scheduled, where nothing came of it.
  Ref refused_call(std::span<const tensor::Tensor* const> tensors) {
    const Ref sink = schedule::pick_outputs(session_, tensors).sink;
    return sink->src.empty() ? nullptr : schedule::transform_to_call(session_.graph(), sink);
  }

  // Each stage that is a graph of states, or a list, against what was to be scheduled.
  void judge_stages(const Called& call, const Contents& wanted, const Stages& stages) {
    for (const Stages::Stage& s : stages.stages) {
      const bool is_list = s.graph->op == Op::Linear;
      if (s.breach) return blame_pass(call, wanted, s, *s.breach);
      if (s.name == "planned") return;
      const Result<Contents> got =
          is_list ? meaning_of_linear(call, s.graph) : meaning_of_sink(call, s.graph);
      const bool is_trouble = !got.ok() && (is_list || is_of_a_run(got.error()));
      const std::string trouble = got.ok()     ? difference(wanted, got.value(), ulps_)
                                  : is_trouble ? got.error().message
                                               : "";
      if (trouble.empty()) continue;
      return blame_pass(call, wanted, s, trouble);
    }
  }

  void blame_pass(const Called& call, const Contents& wanted, const Stages::Stage& s,
                  const std::string& trouble) {
    Blame blame;
    blame.stage = s.pass != nullptr ? "schedule" : s.name;
    blame.evidence = trouble;
    blame.title = fmt::format("{}: {}", s.name, trouble.substr(0, 160));
    if (s.pass != nullptr) {
      blame.pass = s.name;
      const uop::PassSeen seen = {*s.pass, call.g, s.before, s.graph, s.firings, s.breach};
      const Firing firing =
          find_firing(seen, switches_, watch_, *target_, [&](const uop::PassSeen& again) {
            if (s.breach) return again.breach.has_value();
            const Result<Contents> got = meaning_of_sink(call, again.after);
            return got.ok() && !difference(wanted, got.value(), ulps_).empty();
          });
      blame.rule = firing.rule;
      blame.firing = firing.number;
      if (!firing.title.empty()) blame.title = firing.title;
    }
    done(std::move(blame));
  }

  // A list is wrong if it is in some order that its edges allow.
  void judge_orders(const Called& call, const Contents& wanted, const Stages& stages) {
    for (const Stages::Stage& stage : stages.stages) {
      if (stage.name != "schedule" && stage.name != "planned") continue;
      std::string trouble = trouble_of(call, wanted, stage.graph, {});
      if (trouble.empty()) {
        trouble =
            trouble_of(call, wanted, stage.graph, interpreter::last_first_extension(stage.graph));
      }
      for (uint64_t seed = 0; seed < kOrders && trouble.empty(); seed++) {
        const uint64_t own = seed == 0 ? case_.seed : seed;
        trouble =
            trouble_of(call, wanted, stage.graph, interpreter::random_extension(stage.graph, own));
      }
      if (!trouble.empty()) return done(stage.name, trouble);
    }
  }

  std::string trouble_of(const Called& call, const Contents& wanted, Ref linear,
                         std::span<const int> order) {
    const Result<Contents> got = meaning_of_linear(call, linear, order);
    return got.ok() ? difference(wanted, got.value(), ulps_) : got.error().message;
  }

  // Each kernel on what its buffers hold when its turn comes.
  void judge_kernels(const Schedule& s) {
    Graph& g = session_.graph();
    const interpreter::Variables variables(s.variables.begin(), s.variables.end());
    for (size_t k = 0; k < s.linear->src.size() && !is_done_; k++) {
      const Ref call = s.linear->src[k];
      if (!schedule::is_copy(call)) judge_kernel(s, call, number_ + static_cast<int64_t>(k));
      const Ref one = schedule::make_linear(g, {&call, 1}, {});
      if (!is_done_ && !interpreter::run(g, one, variables, memory_).ok()) return;
    }
  }

  bool has_room(Ref root) { return ulps_ >= rounding_of(session_.graph(), root); }

  void judge_kernel(const Schedule& s, Ref call, int64_t number) {
    Graph& g = session_.graph();
    if (!has_room(call->src[0])) return;
    oracles::KernelInputs inputs;
    inputs.variables = {s.variables.begin(), s.variables.end()};
    for (const Ref b : call->src.subspan(1)) {
      const std::span<std::byte> bytes = memory_.of(g, b);
      inputs.arguments.emplace_back(bytes.begin(), bytes.end());
    }
    KernelBlamer blamer(g, call->src[0], inputs, ulps_, *target_, switches_, watch_);
    Watches watches({watch_, &blamer});
    const Ref listed = with_list(s, call, number, watches);
    uop::Run run(g, switches_, &watches, *target_);
    const Result<Ref> linear = codegen::lower(run, listed);
    Blame blame = blamer.concluded(linear);
    if (blame.stage.empty()) return;
    blame.kernel = number;
    done(std::move(blame));
  }

  // The kernel with the list that the case gives it, which is put there after the early passes.
  Ref with_list(const Schedule& s, Ref call, int64_t number, uop::Watch& watch) {
    Graph& g = session_.graph();
    Schedule one = s;
    one.linear = schedule::make_linear(g, {&call, 1}, {});
    one.planned = one.linear;
    const Result<Schedule> listed = runtime::with_lists(
        g, one, lists_, number, runtime::targets_of(devices_), switches_, &watch);
    return listed.ok() ? listed.value().linear->src[0]->src[0] : call->src[0];
  }

  const Case& case_;
  runtime::Devices& devices_;
  const uop::Switches& switches_;
  uop::Watch* watch_;
  double ulps_;
  tensor::Session session_;
  tensor::Builder builder_;
  interpreter::Memory memory_;
  runtime::KernelLists lists_;
  const uop::Target* target_ = nullptr;
  int64_t number_ = 0;  // of the next kernel
  bool is_done_ = false;
  Blame blame_;
};

// The first pass that a property condemns, where each stage computes what the one before does.
Blame blame_by_meaning(const Case& c, runtime::Devices& devices, const uop::Switches& switches,
                       uop::Watch* watch) {
  const Result<runtime::Device*> device = devices.open(c.device);
  if (!device.ok()) return {};
  PassBlamer blamer(device.value()->target(), switches, watch);
  Watches watches({watch, &blamer});
  (void)Walk(c, devices, switches, &watches, kRooms[0]).run();
  return blamer.blame();
}

// What the finding itself says, where each stage means what the one before does.
Blame blame_of(const Finding& finding, const Case& c) {
  Blame blame;
  blame.evidence = finding.evidence;
  const std::string& at = finding.stage;
  const size_t of = at.find(" of ");
  if (at == "device") {
    blame.stage = c.device.starts_with("cl:") ? "render" : "run";
  } else if (at.starts_with("plan ")) {
    blame.stage = "planned";
  } else if (at.starts_with("schedule ")) {
    blame.stage = "schedule";
  } else if (of != std::string::npos) {
    blame.stage = "kernel";
    blame.pass = at.substr(0, of);
  } else {
    blame.stage = at;
  }
  blame.title = fmt::format("{}: {}", blame.nearest(), finding.evidence.substr(0, 160));
  return blame;
}

}  // namespace

const std::string& Blame::nearest() const {
  return !rule.empty() ? rule : !pass.empty() ? pass : stage;
}

Blame bisect(const Case& c, const Finding& finding,
             std::span<const runtime::DeviceKind* const> kinds, const uop::Switches& switches,
             uop::Watch* watch) {
  if (finding.judge == "rule_firing") {
    Blame blame;
    blame.stage = "rule";
    blame.rule = finding.stage;
    blame.evidence = finding.evidence;
    blame.title = fmt::format("{}: {}", blame.rule, finding.evidence.substr(0, 160));
    return blame;
  }
  runtime::Devices devices(kinds, open_options(c));
  for (const double ulps : kRooms) {
    Blame blame = Walk(c, devices, switches, watch, ulps).run();
    if (blame.stage.empty()) continue;
    blame.is_walked = true;
    return blame;
  }
  if (finding.stage != "device") {
    Blame blame = blame_by_meaning(c, devices, switches, watch);
    if (!blame.stage.empty()) return blame;
  }
  return blame_of(finding, c);
}

}  // namespace assay::fuzz
