#include "oracles/interpreter/kernel.h"

#include "oracles/interpreter/execute.h"

namespace assay::interpreter {
namespace {

bool overlap(const Argument& a, const Argument& b) {
  const std::byte* a_end = a.bytes.data() + a.bytes.size();
  const std::byte* b_end = b.bytes.data() + b.bytes.size();
  return a.bytes.data() < b_end && b.bytes.data() < a_end;
}

// The arguments whose bytes a store of the plan may write.
uint64_t aliases_of(const Plan& plan, std::span<const Argument> arguments) {
  uint64_t set = 0;
  for (const Effect& effect : plan.effects) {
    for (size_t k = 0; k < plan.parameters.size(); k++) {
      if (overlap(arguments[k], arguments[static_cast<size_t>(effect.parameter)]))
        set |= uint64_t{1} << k;
    }
  }
  return set;
}

Result<bool> check_arguments(const Plan& plan, std::span<const Argument> arguments) {
  if (plan.parameters.size() > arguments.size()) {
    return Error{
        fmt::format("takes {} arguments, given {}", plan.parameters.size(), arguments.size())};
  }
  for (size_t k = 0; k < plan.parameters.size(); k++) {
    const Parameter& p = plan.parameters[k];
    const Argument& a = arguments[k];
    if (!p.used) continue;
    const bool fits = p.exact && a.exact ? p.size == a.size : p.size <= a.size;
    if (may_bind(p.dtype, a.dtype) && fits) continue;
    return Error{fmt::format("argument {} (buffer {}) is {} {}, the parameter {} {}", k, a.buffer,
                             a.size, uop::to_text(a.dtype), p.size, uop::to_text(p.dtype))};
  }
  return true;
}

}  // namespace

// What a store may write is known from the first plan on; where it reads that too, it is planned
// again, with checks.
Result<const Plan*> Kernels::plan(uop::Ref kernel, std::span<const Argument> arguments) {
  std::vector<Planned>& known = plans_[kernel];
  if (known.empty()) {
    ASSAY_TRY(planned, plan_kernel(graph_, kernel, variables_, 0, shape_));
    known.push_back({0, std::move(planned)});
  }
  const Plan& first = known[0].plan;
  if (const auto checked = check_arguments(first, arguments); !checked.ok()) return checked.error();
  const uint64_t aliases = aliases_of(first, arguments) & first.loaded;
  for (const Planned& p : known) {
    if (p.aliases == aliases) return &p.plan;
  }
  ASSAY_TRY(planned, plan_kernel(graph_, kernel, variables_, aliases, shape_));
  known.push_back({aliases, std::move(planned)});
  return &known.back().plan;
}

Result<bool> Kernels::run(uop::Ref kernel, std::span<const Argument> arguments) {
  ASSAY_TRY(now, plan(kernel, arguments));
  if (scratch_.size() < static_cast<size_t>(now->room))
    scratch_.resize(static_cast<size_t>(now->room));
  for (const Effect& effect : now->effects) {
    if (const auto ran = execute(effect, now->parameters, arguments.first(now->parameters.size()),
                                 scratch_.data());
        !ran.ok())
      return ran.error();
  }
  return true;
}

}  // namespace assay::interpreter
