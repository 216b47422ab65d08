#include "fuzz/blame/blame_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/codegen/launch.h"
#include "engine/uop/pass.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"
#include "fuzz/blame/firing.h"
#include "fuzz/blame/meaning.h"
#include "oracles/interpreter/lowered.h"
#include "oracles/interpreter/poison.h"
#include "oracles/workgroup/workgroup.h"

namespace assay::fuzz {
namespace {

using oracles::Answer;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

using Bytes = std::vector<std::vector<std::byte>>;

// The types of a kernel's parameters, by slot.
std::vector<DType> types_of(Graph& g, Ref kernel) {
  std::vector<DType> types;
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != Op::Param) continue;
    const auto slot = static_cast<size_t>(u->arg.number());
    if (slot >= types.size()) types.resize(slot + 1, DType::Void);
    types[slot] = u->dtype;
  }
  return types;
}

Contents contents(const std::vector<DType>& types, const Bytes& bytes) {
  Contents all;
  for (size_t k = 0; k < bytes.size() && k < types.size(); k++) {
    if (types[k] != DType::Void) all[k] = {types[k], bytes[k]};
  }
  return all;
}

Result<Bytes> interpreted(Graph& g, Ref kernel, const std::vector<DType>& types,
                          const oracles::KernelInputs& inputs) {
  Bytes bytes = inputs.arguments;
  std::vector<interpreter::Argument> arguments;
  for (size_t k = 0; k < bytes.size(); k++) {
    const bool is_used = k < types.size() && types[k] != DType::Void;
    const DType t = is_used ? types[k] : DType::U8;
    const auto size = static_cast<int64_t>(bytes[k].size()) / uop::bytes_of(t);
    arguments.push_back({bytes[k], t, size, false, static_cast<int64_t>(k)});
  }
  ASSAY_TRY(ran, interpreter::run_kernel(g, kernel, arguments, inputs.variables));
  (void)ran;
  return bytes;
}

int64_t count_in(std::span<const Ref> nodes, bool (*is)(Ref u)) {
  return std::ranges::count_if(nodes, is);
}

// Whether a list holds what the graph that it was made of says: barriers with what they wait for,
// as many gated stores as there are in branches, and the nodes of each loop within it.
bool is_faithful(Graph& g, Ref looped, Ref linear) {
  const std::vector<Ref> nodes = uop::toposort(g, looped);
  const auto is_barrier = [](Ref u) { return u->op == Op::Barrier; };
  const auto waits = [](std::span<const Ref> list) {
    size_t n = 0;
    for (const Ref u : list) n += u->op == Op::Barrier ? u->src.size() : 0;
    return n;
  };
  if (count_in(nodes, is_barrier) != count_in(linear->src, is_barrier)) return false;
  if (waits(nodes) != waits(linear->src)) return false;
  int64_t inside = 0;
  int64_t depth = 0;
  int64_t gated = 0;
  for (const Ref u : linear->src) {
    depth += u->op == Op::If ? 1 : u->op == Op::EndIf ? -1 : 0;
    inside += u->op == Op::Store && depth > 0 ? 1 : 0;
    if (depth > 0 && is_barrier(u)) return false;
  }
  for (const Ref u : nodes) gated += u->op == Op::Store && u->src.size() == 3 ? 1 : 0;
  if (inside != gated) return false;
  std::vector<Ref> open;
  for (const Ref u : linear->src) {
    if (u->op == Op::End && !open.empty()) open.pop_back();
    const auto ranges = uop::ranges(g, u);
    for (const Ref r : ranges) {
      const bool is_open = r == u || std::ranges::find(open, r) != open.end();
      if (!is_open) return false;
    }
    const bool is_effect = u->op == Op::Store || u->op == Op::Barrier;
    if (is_effect && ranges.size() < open.size() && u->op == Op::Barrier) return false;
    if (u->op == Op::Range) open.push_back(u);
  }
  return true;
}

Blame blame_linear(Graph& g, Ref kernel, Ref looped, Ref linear,
                   const oracles::KernelInputs& inputs, double ulps, const uop::Target& target) {
  const std::vector<DType> types = types_of(g, kernel);
  const Result<Bytes> bytes_wanted = interpreted(g, kernel, types, inputs);
  if (!bytes_wanted.ok() || looped == nullptr) return {};
  Contents wanted = contents(types, bytes_wanted.value());
  if (interpreter::may_lack_value(g, kernel)) {
    mark_open(wanted, [&]() -> Result<Contents> {
      ASSAY_TRY(again, interpreted(g, kernel, types, inputs));
      return contents(types, again);
    });
  }
  const std::vector<std::pair<std::string, int64_t>> values(inputs.variables.begin(),
                                                            inputs.variables.end());
  const Result<codegen::Launch> launch = codegen::launch_sizes(g, linear, values);
  if (!launch.ok()) return {};
  for (const workgroup::Schedule& schedule : workgroup::interleavings()) {
    Bytes bytes = inputs.arguments;
    std::vector<workgroup::Argument> arguments;
    for (std::vector<std::byte>& b : bytes) arguments.push_back({b});
    workgroup::Options how;
    how.schedule = schedule;
    const Result<workgroup::Report> report =
        workgroup::execute(g, linear, arguments, inputs.variables, launch.value(), target, how);
    std::string evidence;
    if (!report.ok()) {
      evidence = report.error().message;
    } else if (!report.value().findings.empty()) {
      evidence = report.value().findings[0].text;
    } else {
      evidence = difference(wanted, contents(types, bytes), ulps);
    }
    if (evidence.empty()) continue;
    Blame blame;
    blame.stage = "kernel";
    blame.pass = is_faithful(g, looped, linear) ? "pm_implicit_barriers" : "linearize";
    blame.evidence = evidence;
    blame.title = fmt::format("{}: {}", blame.pass, evidence);
    return blame;
  }
  return {};
}

bool is_slot(Ref u) { return u->op == Op::Buffer && u->arg.addr_space() == uop::AddrSpace::Local; }

}  // namespace

KernelBlamer::KernelBlamer(Graph& g, Ref kernel, const oracles::KernelInputs& inputs, double ulps,
                           const uop::Target& target, const uop::Switches& switches,
                           uop::Watch* watch)
    : g_(g),
      kernel_(kernel),
      inputs_(inputs),
      tolerance_{ulps, 0},
      target_(target),
      switches_(switches),
      watch_(watch),
      judge_(g, kernel, inputs, tolerance_) {}

// As LOCAL storage is made, each slot is stored to by one step: two that share one meet where no
// barrier is between what one reads and the other stores, which later passes know nothing of.
void KernelBlamer::look_for_shared_slots(const uop::PassSeen& seen) {
  if (has_slots_) return;
  std::map<Ref, int> stores;
  for (const Ref u : uop::toposort(g_, seen.after)) {
    has_slots_ = has_slots_ || is_slot(u);
    if (u->op != Op::Store) continue;
    const Ref storage = uop::buffer(g_, u->src[0]);
    if (storage != nullptr && is_slot(storage) && ++stores[storage] > 1) sharer_ = seen.pass.name;
  }
}

void KernelBlamer::seen(const uop::PassSeen& seen) {
  if (has_blame()) return;
  last_ = seen.pass.name;
  if (seen.pass.name == "linearize") looped_ = seen.before;
  look_for_shared_slots(seen);
  judge_.seen(seen);
  const bool is_broken = seen.breach.has_value();
  if (!is_broken && judge_.verdict().answer != Answer::Fail) return;
  blame_.stage = "kernel";
  blame_.pass = last_;
  blame_.evidence = is_broken ? *seen.breach : judge_.verdict().evidence;
  const auto is_wrong = [&](const uop::PassSeen& again) {
    if (is_broken) return again.breach.has_value();
    oracles::PassJudge probe(g_, kernel_, inputs_, tolerance_);
    probe.seen(again);
    return probe.verdict().answer == Answer::Fail && !again.breach;
  };
  const Firing firing = find_firing(seen, switches_, watch_, target_, is_wrong);
  blame_.rule = firing.rule;
  blame_.firing = firing.number;
  blame_.title = firing.title.empty() ? fmt::format("{}: {}", last_, blame_.evidence.substr(0, 160))
                                      : firing.title;
}

Blame KernelBlamer::concluded(const Result<Ref>& linear) const {
  if (has_blame()) return blame_;
  Blame blame;
  if (linear.ok()) {
    blame = blame_linear(g_, kernel_, looped_, linear.value(), inputs_, tolerance_.ulps, target_);
    const bool is_race = blame.evidence.starts_with("race at local");
    if (!is_race || sharer_.empty()) return blame;
    blame.pass = sharer_;
    blame.title = fmt::format("{}: two steps have one slot: {}", sharer_, blame.evidence);
    return blame;
  }
  blame.stage = "kernel";
  blame.pass = last_;
  blame.evidence = linear.error().message;
  blame.title = fmt::format("{}: {}", blame.pass, blame.evidence);
  return blame;
}

}  // namespace assay::fuzz
