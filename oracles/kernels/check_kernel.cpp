#include "oracles/kernels/check_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/codegen/forms.h"
#include "engine/render/renderer.h"
#include "engine/schedule/calls.h"
#include "engine/uop/bounds.h"
#include "engine/uop/sample.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/lowered.h"
#include "oracles/interpreter/numbers.h"
#include "oracles/kernels/error_bound.h"
#include "oracles/passes/judge.h"

namespace assay::oracles {

using runtime::Buffers;
using runtime::Ran;
using schedule::Schedule;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

namespace {

constexpr double kLargestInput = 4;  // of small_inputs
constexpr int64_t kMostOfVariable = 64;

// The PARAMs by slot.
Result<std::vector<Ref>> params_of(Graph& g, Ref kernel) {
  std::vector<Ref> params;
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != Op::Param) continue;
    const auto slot = static_cast<size_t>(u->arg.number());
    if (slot >= params.size()) params.resize(slot + 1, nullptr);
    if (params[slot] != nullptr && params[slot] != u) {
      return Error{fmt::format("param {} has two types or sizes", slot)};
    }
    params[slot] = u;
  }
  const auto missing = std::ranges::find(params, nullptr);
  if (missing == params.end()) return params;
  return Error{
      fmt::format("there is no param {}, and there are later ones", missing - params.begin())};
}

// Runs the one call of a schedule on arguments that hold `bytes`.
Result<KernelChecked> run_on_device(Graph& g, const Schedule& s, std::vector<KernelArgument> before,
                                    const KernelOptions& options) {
  Buffers buffers(options.executor->devices());
  const auto arguments = s.linear->src[0]->src.subspan(1);
  for (size_t k = 0; k < arguments.size(); ++k) {
    const Result<bool> written = buffers.write(g, arguments[k], before[k].bytes);
    if (!written.ok()) return written.error();
  }
  runtime::RunOptions how;
  how.switches = options.switches;
  how.watch = options.watch;
  how.limit_ms = options.limit_ms;
  KernelChecked checked;
  Result<Ran> ran = options.executor->run(g, s, buffers, how);
  if (!ran.ok()) {
    checked.verdict = {Answer::Fail, Strength::Sampled, "device: " + ran.error().message};
    return checked;
  }
  checked.runs.push_back(std::move(ran).value());
  const Ran& made = checked.runs.back();
  if (made.status != runtime::Status::Ok) {
    checked.verdict = {Answer::Fail, Strength::Sampled,
                       fmt::format("device: {}: {}", to_text(made.status), made.why)};
    return checked;
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    ASSAY_TRY(bytes, buffers.read(arguments[k]));
    checked.arguments.push_back({before[k].dtype, std::move(bytes)});
  }
  checked.verdict.answer = Answer::Pass;
  return checked;
}

std::vector<interpreter::Slot> slots_of(const KernelArgument& a) {
  std::vector<interpreter::Slot> slots(a.bytes.size() /
                                       static_cast<size_t>(uop::bytes_of(a.dtype)));
  interpreter::decode(a.dtype, a.bytes.data(), slots.data(), static_cast<int64_t>(slots.size()));
  return slots;
}

bool agree(interpreter::Slot a, interpreter::Slot b, bool is_float, double apart) {
  if (a == b) return true;
  if (!is_float) return false;
  const double x = interpreter::number(a);
  const double y = interpreter::number(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return x == y || std::abs(x - y) <= apart;
}

std::string number_text(interpreter::Slot s, bool is_float) {
  return is_float ? fmt::format("{}", interpreter::number(s))
                  : fmt::format("{}", static_cast<int64_t>(s));
}

// The first element of which the device has another value than the interpreter; "" where there is
// none.
std::string difference(const std::vector<KernelArgument>& got,
                       const std::vector<KernelArgument>& wanted, double apart) {
  for (size_t k = 0; k < got.size(); ++k) {
    const std::vector<interpreter::Slot> a = slots_of(got[k]);
    const std::vector<interpreter::Slot> b = slots_of(wanted[k]);
    const bool is_float = uop::is_float(got[k].dtype);
    for (size_t i = 0; i < a.size(); ++i) {
      if (agree(a[i], b[i], is_float, apart)) continue;
      return fmt::format("element {} of argument {} is {} on the device, {} in the interpreter", i,
                         k, number_text(a[i], is_float), number_text(b[i], is_float));
    }
  }
  return "";
}

// What the interpreter makes of the arguments.
Result<std::vector<KernelArgument>> interpreted(Graph& g, Ref kernel,
                                                std::vector<KernelArgument> arguments,
                                                const interpreter::Variables& variables) {
  std::vector<interpreter::Argument> views;
  for (size_t k = 0; k < arguments.size(); ++k) {
    KernelArgument& a = arguments[k];
    const auto size = static_cast<int64_t>(a.bytes.size()) / uop::bytes_of(a.dtype);
    views.push_back({a.bytes, a.dtype, size, false, static_cast<int64_t>(k)});
  }
  const Result<bool> ran = interpreter::run_kernel(g, kernel, views, variables);
  if (!ran.ok()) return ran.error();
  return arguments;
}

// Why a graph is not of the form that the schedule leaves; "" where it is.
std::string other_form(Graph& g, Ref kernel) {
  if (kernel->op != Op::Sink) return fmt::format("its root is {}", uop::to_text(kernel->op));
  if (const auto breach = uop::breach(codegen::scheduled_form(), g, kernel)) return *breach;
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != Op::Range) continue;
    const uop::AxisType type = u->arg.axis_type();
    if (type == uop::AxisType::Weak || type == uop::AxisType::Loop ||
        type == uop::AxisType::Reduce) {
      continue;
    }
    return fmt::format("a range is {}: opts were applied to it", uop::to_text(type));
  }
  return "";
}

bool is_safe(const workgroup::KernelFile& file) {
  return file.expected.empty() && file.allowed.empty() && file.unknown.empty();
}

// Why a list is not run on the device; "" where it can be.
Result<std::string> obstacle_to_device(workgroup::KernelFile& file, const KernelOptions& options) {
  if (!file.aliases.empty()) return std::string("its arguments share bytes");
  ASSAY_TRY(device, options.executor->devices().open(options.device));
  const auto source = render::render(file.graph, file.linear, device->target());
  return source.ok() ? std::string() : source.error().message;
}

}  // namespace

interpreter::Variables some_variables(Graph& g, Ref kernel, uint64_t seed) {
  uop::Random random(seed);
  interpreter::Variables variables;
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != Op::Variable) continue;
    const uop::Bounds b = uop::bounds(g, u);
    const uop::Int128 last = std::min(b.hi, b.lo + kMostOfVariable);
    variables[std::string(u->arg.name())] = static_cast<int64_t>(random.between(b.lo, last));
  }
  return variables;
}

Result<Schedule> one_call(Graph& g, Ref kernel, std::string_view device,
                          const interpreter::Variables& variables) {
  ASSAY_TRY(params, params_of(g, kernel));
  const Ref on = g.make(Op::Device, DType::Void, {}, g.name(device));
  std::vector<Ref> src = {kernel};
  for (size_t k = 0; k < params.size(); ++k) {
    std::vector<Ref> sizes(params[k]->src.begin(), params[k]->src.end());
    // A size that code generation gave a width is one of type `index` again.
    for (Ref& size : sizes) {
      if (uop::is_const(size)) {
        size = g.constant(DType::Index, static_cast<int64_t>(size->arg.bits));
      }
    }
    sizes.push_back(on);
    src.push_back(g.make(Op::Buffer, params[k]->dtype, sizes,
                         uop::Arg::place(static_cast<int32_t>(k), uop::AddrSpace::Global)));
  }
  Schedule s;
  s.call = g.make(Op::Call, DType::Void, src, g.info("", {}));
  s.linear = schedule::make_linear(g, std::vector{s.call}, {});
  s.planned = s.linear;
  s.variables.assign(variables.begin(), variables.end());
  return s;
}

namespace {

Result<Schedule> call_of(Graph& g, Ref kernel, const interpreter::Variables& variables,
                         const KernelOptions& options) {
  const std::string other = other_form(g, kernel);
  if (!other.empty()) {
    return Error{fmt::format(
        "it is neither a kernel of the schedule nor a list of instructions: {}", other)};
  }
  return one_call(g, kernel, options.device, variables);
}

Result<Schedule> with_list(Graph& g, const Schedule& call, const KernelOptions& options) {
  return runtime::with_lists(g, call, options.lists, 0,
                             runtime::targets_of(options.executor->devices()), options.switches,
                             options.watch);
}

}  // namespace

Result<bool> foresee_kernel(Graph& g, Ref kernel, const KernelOptions& options) {
  ASSAY_TRY(call, call_of(g, kernel, some_variables(g, kernel, options.seed), options));
  ASSAY_TRY(listed, with_list(g, call, options));
  runtime::RunOptions how;
  how.switches = options.switches;
  how.watch = options.watch;
  options.executor->foresee(g, listed, how);
  return true;
}

Result<KernelChecked> check_kernel(Graph& g, Ref kernel, const KernelOptions& options) {
  const interpreter::Variables variables = some_variables(g, kernel, options.seed);
  ASSAY_TRY(call, call_of(g, kernel, variables, options));
  ASSAY_TRY(inputs, small_inputs(g, kernel, variables, options.seed));
  std::vector<KernelArgument> arguments;
  for (size_t k = 0; k < inputs.arguments.size(); ++k) {
    const Ref buffer = call.call->src[k + 1];
    arguments.push_back({buffer->dtype, std::move(inputs.arguments[k])});
  }
  ASSAY_TRY(wanted, interpreted(g, kernel, arguments, variables));
  ASSAY_TRY(listed, with_list(g, call, options));
  ASSAY_TRY(checked, run_on_device(g, listed, arguments, options));
  if (checked.verdict.answer != Answer::Pass) return checked;
  const ErrorBound bound = error_bound(g, kernel, kLargestInput);
  const std::string different = difference(checked.arguments, wanted, bound.most);
  checked.verdict.evidence =
      fmt::format("{} arguments as in the interpreter", checked.arguments.size());
  if (different.empty()) return checked;
  checked.verdict = bound.undecided.empty()
                        ? Verdict{Answer::Fail, Strength::Sampled, different}
                        : Verdict{Answer::Unknown, Strength::Sampled,
                                  fmt::format("{}, which may be: {}", different, bound.undecided)};
  return checked;
}

Result<KernelChecked> check_list(workgroup::KernelFile& file, const KernelOptions& options) {
  ASSAY_TRY(different, workgroup::difference(file));
  KernelChecked checked;
  checked.verdict = {Answer::Fail, Strength::Sampled, different};
  if (!different.empty()) return checked;
  const std::string said =
      fmt::format("{} as expected in {} interleavings", is_safe(file) ? "safe" : "found",
                  workgroup::interleavings().size());
  checked.verdict = {Answer::Pass, Strength::Sampled, said};
  const bool is_machine = options.device.empty() || options.device.starts_with("sim");
  if (is_machine || !is_safe(file)) return checked;
  const Result<std::string> obstacle = obstacle_to_device(file, options);
  if (!obstacle.ok()) return obstacle.error();
  if (!obstacle.value().empty()) {
    checked.verdict.evidence += "; not on the device: " + obstacle.value();
    return checked;
  }
  ASSAY_TRY(before, workgroup::arguments_of(file));
  ASSAY_TRY(call, one_call(file.graph, file.linear, options.device, file.variables));
  std::vector<KernelArgument> arguments;
  for (size_t k = 0; k < before.bytes.size(); ++k) {
    const Ref buffer = call.call->src[k + 1];
    ASSAY_TRY(room, runtime::buffer_bytes(file.graph, buffer));
    arguments.push_back({buffer->dtype, before.bytes[k]});
    arguments.back().bytes.resize(static_cast<size_t>(room));
  }
  ASSAY_TRY(ran, run_on_device(file.graph, call, std::move(arguments), options));
  if (ran.verdict.answer != Answer::Pass) return ran;
  for (size_t k = 0; k < ran.arguments.size(); ++k) {
    ran.arguments[k].bytes.resize(before.bytes[k].size());
    std::ranges::copy(ran.arguments[k].bytes, before.arguments[k].bytes.begin());
  }
  const std::string wrong = workgroup::difference(file, before);
  ran.verdict = {wrong.empty() ? Answer::Pass : Answer::Fail, Strength::Sampled,
                 wrong.empty() ? said + ", and on the device" : "device: " + wrong};
  return ran;
}

}  // namespace assay::oracles
