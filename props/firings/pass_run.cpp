#include "props/firings/pass_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/codegen/launch.h"
#include "engine/uop/bounds.h"
#include "engine/uop/pass.h"
#include "engine/uop/sample.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/lowered.h"
#include "oracles/passes/judge.h"
#include "oracles/workgroup/workgroup.h"
#include "props/firings/elements.h"

namespace assay::props {
namespace {

using interpreter::Elements;
using oracles::KernelInputs;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;
using Bytes = std::vector<std::vector<std::byte>>;

constexpr int64_t kMostNodesRun = int64_t{1} << 28;  // of the work-group machine
// Of floats that were rounded: the units in the last place that an order of steps may matter.
constexpr double kUnits = 256;
constexpr double kMostNumber = 64;
constexpr OpSet kRounded = {Op::FDiv, Op::Recip, Op::Sqrt, Op::Exp, Op::Exp2, Op::Log,
                            Op::Log2, Op::Sin,   Op::Cos,  Op::Tan, Op::Pow};

// Whether some float on the way is no small whole number.
bool is_rounded(Graph& g, Ref kernel) {
  const std::vector<Ref> nodes = uop::toposort(g, kernel);
  return std::any_of(nodes.begin(), nodes.end(), [](Ref u) {
    if (!uop::is_float(u->dtype)) return false;
    if (uop::bits_of(u->dtype) < 32 || kRounded.has(u->op)) return true;
    if (!uop::is_const(u)) return false;
    const double x = uop::as_double(u->value());
    return std::isfinite(x) && (x != std::floor(x) || std::fabs(x) > 1 << 20);
  });
}

interpreter::Variables values_for(Graph& g, Ref kernel, uop::Random& random) {
  interpreter::Variables variables;
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != Op::Variable || variables.contains(u->arg.name())) continue;
    const uop::Bounds b = uop::bounds(g, u);
    const uop::Int128 hi = std::max(b.lo, std::min(b.hi, b.lo + 7));
    variables[std::string(u->arg.name())] = static_cast<int64_t>(random.between(b.lo, hi));
  }
  return variables;
}

std::vector<DType> types_of_params(Graph& g, Ref kernel, size_t count) {
  std::vector<DType> types(count, DType::U8);
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != Op::Param) continue;
    const auto slot = static_cast<size_t>(u->arg.number());
    if (slot < count) types[slot] = u->dtype;
  }
  return types;
}

// What the interpreter leaves in the arguments.
Result<Bytes> interpreted(Graph& g, Ref kernel, const KernelInputs& inputs) {
  Bytes bytes = inputs.arguments;
  const std::vector<DType> types = types_of_params(g, kernel, bytes.size());
  std::vector<interpreter::Argument> arguments;
  for (size_t k = 0; k < bytes.size(); k++) {
    const auto size = static_cast<int64_t>(bytes[k].size()) / uop::bytes_of(types[k]);
    arguments.push_back({bytes[k], types[k], size, false, static_cast<int64_t>(k)});
  }
  const auto ran = interpreter::run_kernel(g, kernel, arguments, inputs.variables);
  if (!ran.ok()) return ran.error();
  return bytes;
}

Result<Bytes> executed(Graph& g, Ref linear, const KernelInputs& inputs,
                       const uop::Target& target) {
  uop::Target device = target;
  if (!device.memory) device.memory = uop::MemoryContract{};
  const std::vector<std::pair<std::string, int64_t>> values(inputs.variables.begin(),
                                                            inputs.variables.end());
  ASSAY_TRY(launch, codegen::launch_sizes(g, linear, values));
  Bytes bytes = inputs.arguments;
  std::vector<workgroup::Argument> arguments;
  for (std::vector<std::byte>& b : bytes) arguments.push_back({b, {}});
  workgroup::Options options;
  options.is_checked = false;
  options.budget = kMostNodesRun;
  ASSAY_TRY(report,
            workgroup::execute(g, linear, arguments, inputs.variables, launch, device, options));
  (void)report;
  return bytes;
}

Elements elements_of_argument(DType t, const std::vector<std::byte>& bytes) {
  return {t, {static_cast<int64_t>(bytes.size()) / uop::bytes_of(t)}, bytes};
}

// A LINEAR against the kernel that it was made of.
Outcome judge_linear(Graph& g, Ref before, Ref linear, const KernelInputs& inputs,
                     const Rounding& rounding, const uop::Target& target) {
  const Result<Bytes> wanted = interpreted(g, before, inputs);
  if (!wanted.ok()) {
    return {{Answer::Unknown, Strength::Sampled, to_string(wanted.error())}, "not run"};
  }
  const Result<Bytes> got = executed(g, linear, inputs, target);
  if (!got.ok()) {
    return {{Answer::Unknown, Strength::Sampled, to_string(got.error())}, "not run"};
  }
  const std::vector<DType> types = types_of_params(g, before, wanted.value().size());
  for (size_t k = 0; k < types.size(); k++) {
    const auto again = [&]() -> Result<Elements> {
      ASSAY_TRY(bytes, interpreted(g, before, inputs));
      return elements_of_argument(types[k], bytes[k]);
    };
    const Difference d =
        difference_of(elements_of_argument(types[k], wanted.value()[k]),
                      elements_of_argument(types[k], got.value()[k]), rounding, again);
    if (d.answer == Answer::Pass) continue;
    const std::string text = fmt::format("argument {}: {}", k, d.text);
    if (d.answer == Answer::Unknown) return {{d.answer, Strength::Sampled, text}, "not run"};
    return {{d.answer, Strength::Sampled, text}, "work-group machine"};
  }
  return {{Answer::Pass, Strength::Sampled, ""}, "work-group machine"};
}

Outcome judge_sink(Graph& g, Ref before, Ref after, const KernelInputs& inputs,
                   const Rounding& rounding) {
  oracles::PassJudge judge(g, before, inputs, {rounding.units, rounding.most});
  if (judge.verdict().answer != Answer::Pass) return {judge.verdict(), "not run"};
  static const uop::Pass any = {
      .name = "the pass", .accepts = uop::graph_spec(), .yields = uop::graph_spec(), .rules = {}};
  const std::optional<std::string> breach;
  judge.seen(uop::PassSeen{any, g, before, after, 0, breach});
  return {judge.verdict(), "execution"};
}

}  // namespace

Outcome judge_kernel_runs(Graph& g, Ref before, Ref after, int inputs, Context& context) {
  uop::Random random(context.seed);
  Rounding rounding;
  if (is_rounded(g, before)) rounding = {.units = kUnits, .most = kMostNumber};
  Outcome outcome;
  for (int i = 0; i < inputs; i++) {
    const interpreter::Variables variables = values_for(g, before, random);
    const auto numbers = oracles::small_inputs(g, before, variables, random.next());
    if (!numbers.ok()) {
      return {{Answer::Unknown, Strength::Sampled, to_string(numbers.error())}, "not run"};
    }
    outcome = after->op == Op::Linear
                  ? judge_linear(g, before, after, numbers.value(), rounding, context.target)
                  : judge_sink(g, before, after, numbers.value(), rounding);
    if (outcome.verdict.answer != Answer::Pass) return outcome;
  }
  outcome.verdict.evidence = fmt::format("{} inputs", inputs);
  return outcome;
}

}  // namespace assay::props
