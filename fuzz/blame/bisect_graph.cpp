#include "fuzz/blame/bisect_graph.h"

#include <fmt/format.h>

#include <utility>

#include "engine/codegen/pipeline.h"
#include "engine/runtime/kernel_lists.h"
#include "engine/uop/text.h"
#include "fuzz/blame/blame_kernel.h"
#include "fuzz/trial/graph_case.h"
#include "oracles/kernels/check_kernel.h"
#include "oracles/passes/judge.h"

namespace assay::fuzz {
namespace {

using uop::Graph;
using uop::Ref;

// How far floats may be off after a pass.
constexpr double kRoom = 16;

// The kernel with the list that the case gives it.
Ref listed_kernel(Graph& g, Ref kernel, const Case& c, const interpreter::Variables& variables,
                  runtime::Devices& devices, const uop::Switches& switches, uop::Watch& watch) {
  if (c.opts.empty()) return kernel;
  const Result<runtime::KernelLists> lists = runtime::lists_from_text(std::vector{c.opts});
  const Result<schedule::Schedule> call = oracles::one_call(g, kernel, c.device, variables);
  if (!lists.ok() || !call.ok()) return kernel;
  const Result<schedule::Schedule> listed = runtime::with_lists(
      g, call.value(), lists.value(), 0, runtime::targets_of(devices), switches, &watch);
  return listed.ok() ? listed.value().linear->src[0]->src[0] : kernel;
}

Blame bisect_kernel(const Case& c, runtime::Devices& devices, const uop::Switches& switches,
                    uop::Watch* watch) {
  Graph g;
  const Result<uop::Parsed> parsed = uop::from_text(g, c.graph);
  const Result<runtime::Device*> device = devices.open(c.device);
  if (!parsed.ok() || !device.ok()) return {};
  const uop::Target& target = device.value()->target();
  const Ref kernel = parsed.value().root;
  const interpreter::Variables variables = oracles::some_variables(g, kernel, c.seed);
  const Result<oracles::KernelInputs> inputs = oracles::small_inputs(g, kernel, variables, c.seed);
  if (!inputs.ok()) return {};
  KernelBlamer blamer(g, kernel, inputs.value(), kRoom, target, switches, watch);
  Watches watches({watch, &blamer});
  const Ref listed = listed_kernel(g, kernel, c, variables, devices, switches, watches);
  uop::Run run(g, switches, &watches, target);
  const Result<Ref> linear = codegen::lower(run, listed);
  return blamer.concluded(linear);
}

// What the finding itself says.
Blame blame_as_found(const Case& c, const Finding& finding) {
  Blame blame;
  blame.evidence = finding.evidence;
  const size_t of = finding.stage.find(" of ");
  if (is_terms(c)) {
    blame.stage = "rule";
    if (finding.stage.find('.') != std::string::npos) blame.rule = finding.stage;
  } else if (finding.stage == "device") {
    blame.stage = c.device.starts_with("cl:") ? "render" : "run";
  } else if (of != std::string::npos) {
    blame.stage = "kernel";
    blame.pass = finding.stage.substr(0, of);
  } else {
    blame.stage = finding.stage;
  }
  blame.title = fmt::format("{}: {}", blame.nearest(), finding.evidence.substr(0, 160));
  return blame;
}

}  // namespace

Blame bisect_graph(const Case& c, const Finding& finding,
                   std::span<const runtime::DeviceKind* const> kinds, const uop::Switches& switches,
                   uop::Watch* watch) {
  if (is_terms(c)) return blame_as_found(c, finding);
  runtime::Devices devices(kinds, open_options(c));
  Blame blame = bisect_kernel(c, devices, switches, watch);
  return blame.stage.empty() ? blame_as_found(c, finding) : blame;
}

}  // namespace assay::fuzz
