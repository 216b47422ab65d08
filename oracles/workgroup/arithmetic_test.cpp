// What the machine computes is what engine/uop says each operation means.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/uop/eval.h"
#include "oracles/workgroup/test_launch.h"

namespace assay::workgroup {
namespace {

using uop::DType;
using uop::Op;
using uop::Value;

constexpr int kItems = 128;

struct Case {
  Op op;
  DType result;
  DType operand;  // of the first source
};

std::string name_of(const Case& c) {
  return fmt::format("{}_{}_{}", uop::to_text(c.op), uop::to_text(c.result),
                     uop::to_text(c.operand));
}

bool has_layout(DType t) { return t != DType::Void && t != DType::Index; }

// Each scalar operation at each type that storage may have.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (int o = 0; o < uop::kOpCount; o++) {
    const Op op = static_cast<Op>(o);
    if (!uop::is_scalar(op) || uop::is_movement(op)) continue;
    for (int r = 0; r < uop::kDTypeCount; r++) {
      const auto t = static_cast<DType>(r);
      if (!has_layout(t) || !uop::info(op).over.has(t)) continue;
      if (op == Op::Where) {
        all.push_back({op, t, DType::Bool});
      } else if (uop::info(op).typing == uop::Typing::Compare) {
        all.push_back({op, DType::Bool, t});
      } else if (op != Op::Cast && op != Op::Bitcast) {
        all.push_back({op, t, t});
      }
      for (int s = 0; s < uop::kDTypeCount; s++) {
        const auto from = static_cast<DType>(s);
        if (!has_layout(from)) continue;
        const bool is_bits =
            from != DType::Bool && t != DType::Bool && uop::bits_of(from) == uop::bits_of(t);
        if (op == Op::Cast || (op == Op::Bitcast && is_bits)) all.push_back({op, t, from});
      }
    }
  }
  return all;
}

DType operand_type(const Case& c, int k) {
  if (k == 0) return c.operand;
  return uop::info(c.op).typing == uop::Typing::Compare ? c.operand : c.result;
}

uint64_t bits_at(const std::vector<std::byte>& bytes, DType t, int i) {
  uint64_t bits = 0;
  const auto size = static_cast<size_t>(uop::bytes_of(t));
  std::memcpy(&bits, bytes.data() + static_cast<size_t>(i) * size, size);
  if (uop::kind_of(t) != uop::Kind::Signed) return bits;
  const int unused = 64 - uop::bits_of(t);
  return static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
}

// Functions of the C library are within a unit of the exact result.
bool agrees(const Case& c, Value expected, uint64_t actual) {
  if (expected.bits == actual) return true;
  const bool is_function = uop::is_float(c.result) && c.op >= Op::Sqrt && c.op <= Op::Tan;
  const bool is_near = actual + 1 == expected.bits || actual == expected.bits + 1;
  return (is_function || (c.op == Op::Pow && uop::is_float(c.result))) && is_near;
}

class Arithmetic : public testing::TestWithParam<Case> {};

TEST_P(Arithmetic, IsThatOfTheLanguage) {
  const Case c = GetParam();
  std::vector<DType> types;
  for (int k = 0; k < uop::info(c.op).min_sources; k++) types.push_back(operand_type(c, k));
  TestLaunch launch(elementwise(c.op, c.result, types, kItems));
  launch.launch.items[0] = kItems;
  launch.target.limits.group_size = kItems;
  std::mt19937_64 random(uint64_t{1} + static_cast<uint64_t>(c.op));
  const int count = uop::info(c.op).min_sources;
  std::vector<std::vector<Value>> operands(static_cast<size_t>(count));
  launch.bytes.emplace_back(static_cast<size_t>(kItems * uop::bytes_of(c.result)));
  for (int k = 0; k < count; k++) {
    const DType t = operand_type(c, k);
    const auto size = static_cast<size_t>(uop::bytes_of(t));
    std::vector<std::byte>& bytes = launch.bytes.emplace_back(kItems * size);
    for (size_t i = 0; i < kItems; i++) {
      const uint64_t word = (random() % 3 == 0) ? random() % 7 : random();
      std::memcpy(bytes.data() + i * size, &word, size);
      if (t == DType::Bool) bytes[i] &= std::byte{1};
      operands[static_cast<size_t>(k)].push_back({t, bits_at(bytes, t, static_cast<int>(i))});
    }
  }
  ASSERT_EQ(launch.findings(), "");
  int compared = 0;
  for (int i = 0; i < kItems; i++) {
    std::vector<Value> src;
    for (const auto& values : operands) src.push_back(values[static_cast<size_t>(i)]);
    const auto expected = uop::eval(c.op, c.result, src);
    if (!expected) continue;
    compared++;
    const uint64_t actual = bits_at(launch.bytes[0], c.result, i);
    std::string shown;
    for (const Value v : src) shown += " " + uop::to_text(v);
    EXPECT_TRUE(agrees(c, *expected, actual))
        << uop::to_text(c.op) << shown << " is " << uop::to_text(*expected) << ", found "
        << uop::to_text(Value{c.result, actual});
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(EveryOp, Arithmetic, testing::ValuesIn(cases()),
                         [](const auto& row) { return name_of(row.param); });

}  // namespace
}  // namespace assay::workgroup
