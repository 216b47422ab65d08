#include "engine/runtime/kernel_lists.h"

#include <fmt/format.h>

#include <charconv>

#include "engine/check.h"
#include "engine/codegen/pipeline.h"
#include "engine/codegen/random_opts.h"
#include "engine/codegen/tiling.h"
#include "engine/schedule/calls.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::runtime {

using codegen::Opt;
using uop::Graph;
using uop::Op;
using uop::Ref;

namespace {

std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t n = 0;
  const char* last = text.data() + text.size();
  const auto [end, trouble] = std::from_chars(text.data(), last, n);
  if (trouble != std::errc() || end != last) return std::nullopt;
  return n;
}

Result<KernelList> list_from_text(std::string_view text) {
  constexpr std::string_view kRandom = "random:";
  if (text == "none") return KernelList{};
  if (text.starts_with(kRandom)) {
    const std::optional<uint64_t> seed = number_of(text.substr(kRandom.size()));
    if (!seed) return Error{fmt::format("{} has no number after it", quoted(kRandom))};
    return KernelList{{}, seed};
  }
  const Result<std::vector<Opt>> opts = codegen::opts_from_text(text);
  if (opts.ok()) return KernelList{opts.value(), std::nullopt};
  return Error{fmt::format("{} is no list of opts: {}", quoted(text), opts.error().message)};
}

// Draws lists that differ between kernels, each by the number of its own.
uop::Random random_of(uint64_t seed, int64_t kernel) {
  return uop::Random(uop::Random(seed).next() + static_cast<uint64_t>(kernel));
}

// The kernel with its list, at home in another graph, so that what the passes leave over is
// dropped.
Result<Ref> listed(Graph& g, Ref kernel, const KernelList& list, int64_t number,
                   const uop::Target& target, const uop::Switches& switches, uop::Watch* watch) {
  Graph scratch;
  uop::Run run(scratch, switches, watch, target);
  Ref made = uop::copy_to(scratch, g, kernel);
  if (list.seed) {
    uop::Random random = random_of(*list.seed, number);
    ASSAY_TRY(drawn, codegen::with_random_opts(run, made, random));
    made = drawn;
  } else {
    ASSAY_TRY(simple, uop::run_passes(codegen::early_passes(), run, made));
    ASSAY_TRY(legal, codegen::Tiling::of(scratch, target, simple, list.opts));
    made = codegen::with_opts(scratch, simple, list.opts);
  }
  return uop::copy_to(g, scratch, made);
}

// Why the body of a call takes no list; "" where it does.
std::string_view refusal(Ref call) {
  if (schedule::is_copy(call)) return "it is a copy";
  return call->src[0]->op == Op::Linear ? "it is a list of instructions already" : "";
}

Result<const uop::Target*> target_of_call(Graph& g, Ref call, const TargetOf& target_of) {
  for (const Ref argument : call->src.subspan(1)) {
    const Ref on = uop::device(g, argument);
    if (on != nullptr) return target_of(on->arg.name());
  }
  return Error{"nothing says on which device it is"};
}

Ref with_bodies(Graph& g, Ref linear, std::span<const Ref> bodies) {
  if (linear == nullptr) return nullptr;
  ASSAY_CHECK(linear->src.size() == bodies.size(), "a plan has other calls than its schedule");
  std::vector<Ref> calls(linear->src.begin(), linear->src.end());
  for (size_t k = 0; k < calls.size(); k++) {
    std::vector<Ref> src(calls[k]->src.begin(), calls[k]->src.end());
    src[0] = bodies[k];
    calls[k] = g.make(Op::Call, calls[k]->dtype, src, calls[k]->arg);
  }
  return g.make(Op::Linear, linear->dtype, calls, linear->arg);
}

}  // namespace

const KernelList* KernelLists::of(int64_t kernel) const {
  const auto own = kernels.find(kernel);
  if (own != kernels.end()) return &own->second;
  return others ? &*others : nullptr;
}

Result<bool> KernelLists::within(int64_t count) const {
  if (kernels.empty()) return true;
  const auto& [kernel, list] = *kernels.rbegin();
  if (kernel < count) return true;
  return Error{fmt::format("there is no kernel {}: the program runs {}", kernel, count), list.line};
}

Result<KernelLists> lists_from_text(std::span<const std::string> texts) {
  KernelLists lists;
  for (const std::string_view text : texts) {
    const size_t colon = text.find(':');
    const std::optional<uint64_t> kernel =
        colon == std::string_view::npos ? std::nullopt : number_of(text.substr(0, colon));
    ASSAY_TRY(list, list_from_text(kernel ? text.substr(colon + 1) : text));
    if (kernel) {
      lists.kernels[static_cast<int64_t>(*kernel)] = list;
    } else {
      lists.others = list;
    }
  }
  return lists;
}

Result<KernelLists> with_hints(KernelLists lists, const tensor::Program& program) {
  for (const tensor::Hint& hint : program.hints) {
    const Result<std::vector<Opt>> opts = codegen::opts_from_text(hint.opts);
    if (!opts.ok()) return Error{opts.error().message, hint.line};
    if (lists.others) continue;
    lists.kernels.emplace(hint.kernel, KernelList{opts.value(), std::nullopt, hint.line});
  }
  return lists;
}

TargetOf targets_of(Devices& devices) {
  return [&devices](std::string_view name) -> Result<const uop::Target*> {
    ASSAY_TRY(device, devices.open(name));
    return &device->target();
  };
}

Result<schedule::Schedule> with_lists(Graph& g, const schedule::Schedule& schedule,
                                      const KernelLists& lists, int64_t first,
                                      const TargetOf& target_of, const uop::Switches& switches,
                                      uop::Watch* watch) {
  if (lists.empty() || schedule.linear == nullptr) return schedule;
  std::vector<Ref> bodies;
  for (const Ref call : schedule.linear->src) {
    const int64_t number = first + static_cast<int64_t>(bodies.size());
    bodies.push_back(call->src[0]);
    const KernelList* list = lists.of(number);
    if (list == nullptr) continue;
    const std::string_view refused = refusal(call);
    if (!refused.empty() && !lists.kernels.contains(number)) continue;
    const auto error = [&](std::string_view why) {
      return Error{fmt::format("kernel {}, {}: {}", number, schedule::kernel_name(call), why),
                   list->line};
    };
    if (!refused.empty()) return error(fmt::format("{}, which has no opts", refused));
    const Result<const uop::Target*> target = target_of_call(g, call, target_of);
    if (!target.ok()) return error(target.error().message);
    const Result<Ref> body =
        listed(g, bodies.back(), *list, number, *target.value(), switches, watch);
    if (!body.ok()) return error(body.error().message);
    bodies.back() = body.value();
  }
  schedule::Schedule made = schedule;
  made.linear = with_bodies(g, schedule.linear, bodies);
  made.planned = with_bodies(g, schedule.planned, bodies);
  return made;
}

}  // namespace assay::runtime
