// Every element-wise op of the language at every type, on numbers that are hard for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "engine/runtime/opencl/device.h"
#include "engine/runtime/profiles.h"
#include "engine/tensor/program/ops.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/value.h"
#include "oracles/check.h"
#include "oracles/workgroup/sim.h"

namespace assay::oracles {
namespace {

using tensor::AttrKind;
using tensor::Family;
using tensor::OpRow;
using uop::DType;
using uop::Value;

constexpr DType kEveryType[] = {
#define DTYPE(name, text, kind, bits) uop::name,
#include "engine/uop/dtype.def"
#undef DTYPE
};

// Whether element i of a result depends on elements i of operands alone.
bool is_elementwise(Family family) {
  switch (family) {
    case Family::Unary:
    case Family::Convert:
    case Family::Binary:
    case Family::Compare:
    case Family::Select:
    case Family::Ternary: return true;
    case Family::Source:
    case Family::Random:
    case Family::View:
    case Family::Move:
    case Family::Reduce:
    case Family::Scan:
    case Family::Contract:
    case Family::Window:
    case Family::Norm:
    case Family::Index:
    case Family::Order:
    case Family::State: return false;
  }
  return false;
}

// Numbers that are hard, the hardest first, and of each type those that it has. Halves, ends of
// ranges and what lies beside them, amounts of shifts about the widths, and arguments at which
// functions overflow, underflow or are far from their first period.
std::vector<Value> hard_floats(DType t) {
  const uop::FloatFormat format = uop::format_of(t);
  const double unit = std::ldexp(1, -format.mantissa_bits);
  const double least_normal = std::ldexp(1, 1 - format.bias());
  const double most = std::ldexp(2 - unit, format.max_exponent()) *
                      (format.has_infinity ? 1 : (2 - 2 * unit) / (2 - unit));
  const double numbers[] = {0,
                            INFINITY,
                            NAN,
                            1,
                            most,
                            least_normal,
                            std::ldexp(1, format.min_exponent()),
                            0.5,
                            2.5,
                            3,
                            1 + unit,
                            least_normal * (1 - unit),
                            1.5,
                            2,
                            1 - unit / 2,
                            most / 2,
                            std::sqrt(most),
                            0.1,
                            M_PI,
                            std::ldexp(1, format.mantissa_bits) - 0.5,
                            11.5,
                            88.75,
                            104,
                            127.5,
                            128,
                            255.5,
                            710,
                            745.5,
                            1e10,
                            32767.5,
                            65504,
                            0x1p31,
                            2147483647.5,
                            0x1p32,
                            0x1p53,
                            0x1p63,
                            0x1p64};
  std::vector<Value> values;
  for (const double x : numbers) {
    for (const double signed_x : {x, -x}) {
      const Value v = uop::of_double(t, signed_x);
      if (std::ranges::find(values, v) == values.end()) values.push_back(v);
    }
  }
  return values;
}

std::vector<Value> hard_integers(DType t) {
  const uop::Int128 least = uop::min_int(t);
  const uop::Int128 most = uop::max_int(t);
  std::vector<uop::Int128> numbers = {0, 1, -1, least, most, 2, -2, 3, least + 1, most - 1};
  const int width = uop::bits_of(t);
  for (const int n : {width - 1, width, width + 1, 7, 8, 15, 16, 31, 32, 63, 64, 100}) {
    numbers.insert(numbers.end(), {n, -n});
  }
  for (const int bit : {7, 8, 11, 15, 16, 24, 31, 32, 53, 62}) {
    const uop::Int128 power = uop::Int128{1} << bit;
    numbers.insert(numbers.end(), {power, power - 1, power + 1, -power, -power - 1});
  }
  std::vector<Value> values;
  for (const uop::Int128 n : numbers) {
    if (!uop::fits(t, n)) continue;
    const Value v = uop::of_int(t, n);
    if (std::ranges::find(values, v) == values.end()) values.push_back(v);
  }
  return values;
}

std::vector<Value> hard_values(DType t) {
  if (t == uop::Bool) return {uop::of_bool(false), uop::of_bool(true)};
  return uop::is_float(t) ? hard_floats(t) : hard_integers(t);
}

// A statement and the inputs it works on.
struct OpCase {
  std::string name;
  std::string text;
  uop::TypeSet types;
};

// Operand k varies along axis k, so that all combinations are there.
std::string input(std::string_view name, DType t, size_t axis, size_t axes, size_t most) {
  std::vector<Value> values = hard_values(t);
  values.resize(std::min(values.size(), most));
  std::string shape;
  std::string data;
  for (size_t k = 0; k < axes; ++k) {
    shape += fmt::format("{}{}", k == 0 ? "" : ", ", k == axis ? values.size() : 1);
  }
  for (const Value v : values) data += fmt::format("{}{}", data.empty() ? "" : ", ", to_text(v));
  return fmt::format("{}: {}[{}] = input(data=[{}])\n", name, uop::to_text(t), shape, data);
}

OpCase make_case(const OpRow& row, DType t, DType result, const std::string& attrs,
                 size_t variant) {
  OpCase c;
  c.name = fmt::format("{}_{}", row.text, uop::to_text(t));
  c.types = {t, result};
  if (row.family == Family::Convert) c.name += fmt::format("_{}", uop::to_text(result));
  if (variant != 0) c.name += fmt::format("_{}", variant);
  const size_t axes = row.operands.size();
  std::string operands;
  std::string shape;
  for (size_t k = 0; k < axes; ++k) {
    const DType type = row.family == Family::Select && k == 0 ? uop::Bool : t;
    const size_t most = axes < 3 ? SIZE_MAX : 20;
    const std::string name = fmt::format("{}_{}", row.operands[k].name, c.name);
    c.text += input(name, type, k, axes, most);
    operands += fmt::format("{}{}", k == 0 ? "" : ", ", name);
    shape += fmt::format("{}{}", k == 0 ? "" : ", ", std::min(hard_values(type).size(), most));
  }
  c.text += fmt::format("{}: {}[{}] = {}({}{})\n", c.name, uop::to_text(result), shape, row.text,
                        operands, attrs);
  return c;
}

// An op as it is, and with each word and flag that it may be given instead.
std::vector<std::string> variants_of(const OpRow& row) {
  std::vector<std::string> all = {""};
  for (const tensor::AttrRow& attr : row.attrs) {
    if (attr.kind == AttrKind::Bool) {
      const bool is_true = attr.fallback == "true";
      all.push_back(fmt::format(", {}={}", attr.name, is_true ? "false" : "true"));
    }
    for (const std::string_view word : attr.words) {
      if (word != attr.fallback) all.push_back(fmt::format(", {}={}", attr.name, word));
    }
  }
  return all;
}

std::vector<OpCase> all_cases() {
  std::vector<OpCase> all;
  for (const OpRow& row : tensor::all_ops()) {
    if (!is_elementwise(row.family)) continue;
    const std::vector<std::string> variants = variants_of(row);
    for (const DType t : kEveryType) {
      if (!row.over.has(t) || t == uop::Index) continue;
      for (size_t k = 0; k < variants.size(); ++k) {
        const DType same = row.result == tensor::ResultType::Bool ? uop::Bool : t;
        for (const DType to : kEveryType) {
          const bool is_result =
              row.family == Family::Convert ? row.over.has(to) && to != uop::Index : to == same;
          if (is_result) all.push_back(make_case(row, t, to, variants[k], k));
        }
      }
    }
  }
  return all;
}

// A device, and how many of the cases it is shown: one in so many.
struct Where {
  std::string_view label;
  std::string_view device;
  std::string_view profile;
  size_t one_in;
};
constexpr Where kWhere[] = {
    {"Sim", "sim:0", "", 1},
    {"SimAsAnyDevice", "sim:0", "generic", 1},
    {"Pocl", "cl:pocl-basic", "", 7},
};

class ElementwiseMatrix : public testing::TestWithParam<Where> {};

// All of them everywhere where ASSAY_WHOLE is set.
TEST_P(ElementwiseMatrix, IsWithinTheBounds) {
  constexpr size_t kAtOnce = 48;  // statements of a program
  const std::array<const runtime::DeviceKind*, 2> kinds = {&workgroup::sim_kind(),
                                                           &runtime::opencl::opencl_kind()};
  runtime::OpenOptions open;
  if (!GetParam().profile.empty()) open.profile = runtime::profile(GetParam().profile);
  runtime::Devices devices(kinds, open);
  const auto device = devices.open(GetParam().device);
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  runtime::Executor executor(devices);
  CheckOptions how;
  how.tensor_graph = how.kernels = how.planned = false;
  how.executor = &executor;
  how.device = GetParam().device;
  const size_t step = std::getenv("ASSAY_WHOLE") == nullptr ? GetParam().one_in : 1;
  std::vector<OpCase> cases = all_cases();
  // Doubles are the one type that nothing is put in the place of.
  if (!device.value()->target().arithmetic.has(uop::F64)) {
    std::erase_if(cases, [](const OpCase& c) { return c.types.has(uop::F64); });
  }
  size_t compared = 0;
  std::string text;
  size_t waiting = 0;
  for (size_t i = 0; i < cases.size(); i += step) {
    text += cases[i].text;
    if (++waiting < kAtOnce && i + step < cases.size()) continue;
    const auto program = tensor::from_text("tp 1\n" + text);
    ASSERT_TRUE(program.ok()) << to_string(program.error());
    const Checked checked = check(program.value(), how);
    EXPECT_EQ(checked.verdict.answer, Answer::Pass) << checked.verdict.evidence;
    for (const Judged& j : checked.judged) EXPECT_FALSE(j.comparison.is_masked()) << j.value;
    compared += checked.judged.size();
    text.clear();
    waiting = 0;
  }
  EXPECT_EQ(compared, (cases.size() + step - 1) / step);
}

INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseMatrix, testing::ValuesIn(kWhere),
                         [](const auto& where) { return std::string(where.param.label); });

}  // namespace
}  // namespace assay::oracles
