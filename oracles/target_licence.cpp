#include "oracles/target_licence.h"

#include <optional>
#include <vector>

#include "engine/runtime/devices.h"
#include "engine/tensor/program/default_device.h"

namespace assay::oracles {
namespace {

using reference::Fn;
using reference::Licence;
using reference::Limit;
using uop::DType;
using uop::Op;

struct Function {
  Fn fn;
  Op op;
  bool is_library;  // computed by polynomials, unless the target wants its own
};
constexpr Function kFunctions[] = {
    {Fn::Div, Op::FDiv, false}, {Fn::Recip, Op::Recip, false}, {Fn::Sqrt, Op::Sqrt, false},
    {Fn::Exp, Op::Exp, true},   {Fn::Exp2, Op::Exp2, true},    {Fn::Log, Op::Log, true},
    {Fn::Log2, Op::Log2, true}, {Fn::Sin, Op::Sin, true},      {Fn::Cos, Op::Cos, true},
    {Fn::Tan, Op::Tan, true},   {Fn::Pow, Op::Pow, true},
};

constexpr DType kFloatTypes[] = {DType::E4M3, DType::E5M2, DType::F16,
                                 DType::BF16, DType::F32,  DType::F64};

std::vector<Limit> limits_of(const uop::Target& target) {
  std::vector<Limit> limits;
  for (const Function& f : kFunctions) {
    if (f.is_library && !target.math.native.has(f.op)) continue;
    for (const DType t : kFloatTypes) {
      const std::optional<double> ulps = uop::ulp_limit(target, f.op, t);
      if (ulps && target.arithmetic.has(t)) limits.push_back({f.fn, {t}, *ulps});
    }
  }
  return limits;
}

}  // namespace

Licence licence_of(const uop::Target& target) {
  const uop::MathRules& math = target.math;
  uop::TypeSet flushes;
  for (const DType t : kFloatTypes) {
    // Below f32 only bf16 has the subnormals of f32.
    const bool is_flushed = target.arithmetic.has(t) || t == DType::BF16;
    const bool is_kept = t == DType::F64 || math.subnormals == uop::Subnormals::Kept;
    if (is_flushed && !is_kept) flushes = flushes | uop::TypeSet{t};
  }
  return {math.contracts, flushes, limits_of(target)};
}

Licence licence_of(const tensor::Program& program, std::string_view device,
                   runtime::Devices& devices) {
  std::optional<Licence> all;
  const auto add = [&](std::string_view name) {
    const Result<runtime::Device*> opened = devices.open(name);
    if (!opened.ok()) return;
    const Licence licence = licence_of(opened.value()->target());
    all = all ? looser(*all, licence) : licence;
  };
  add(device);
  for (const tensor::Statement& s : program.statements) {
    const auto* define = std::get_if<tensor::Define>(&s.what);
    if (define == nullptr || define->device.empty()) continue;
    if (define->device != tensor::kDefaultDevice) add(define->device);
  }
  return all.value_or(reference::full_profile());
}

}  // namespace assay::oracles
