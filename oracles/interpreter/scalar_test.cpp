#include "oracles/interpreter/scalar.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/sample.h"

namespace assay::interpreter {
namespace {

using uop::info;
using uop::Random;
using uop::to_text;
using uop::Typing;
using uop::Value;

constexpr DType kTypes[] = {uop::Bool, uop::Index, uop::I8,  uop::U8,  uop::I16,  uop::U16,
                            uop::I32,  uop::U32,   uop::I64, uop::U64, uop::E4M3, uop::E5M2,
                            uop::F16,  uop::BF16,  uop::F32, uop::F64};
constexpr DType kFloatTypes[] = {uop::E4M3, uop::E5M2, uop::F16, uop::BF16, uop::F32, uop::F64};

// Between a Value's bits and a slot, through memory: bools and integers are held alike.
Slot slot_of(Value v) {
  Slot s = v.bits;
  if (uop::is_float(v.dtype)) decode(v.dtype, reinterpret_cast<const std::byte*>(&v.bits), &s, 1);
  return s;
}
Value value_of(DType t, Slot s) {
  if (!uop::is_float(t)) return {t, s};
  Value v = {t, 0};
  encode(t, &s, reinterpret_cast<std::byte*>(&v.bits), 1);
  return v;
}

// The place of a float in the order of its type's numbers.
int64_t place(Value v) {
  const uint64_t sign = uint64_t{1} << (uop::bits_of(v.dtype) - 1);
  const auto magnitude = static_cast<int64_t>(v.bits & (sign - 1));
  return (v.bits & sign) != 0 ? -magnitude : magnitude;
}

bool is_function(Op op) {
  switch (op) {
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Pow: return true;
    default: return false;
  }
}

// Equal, or for functions of floats neighbours (in f64 the C library may err a little more).
bool agrees(Op op, Value got, Value want) {
  if (got == want) return true;
  if (!uop::is_float(want.dtype) || !is_function(op)) return false;
  if (uop::is_nan(got) || uop::is_nan(want)) return false;
  return std::abs(place(got) - place(want)) <= 1;
}

struct Case {
  Op op;
  Types types;
};
std::vector<DType> operand_types(const Case& c) {
  std::vector<DType> list(static_cast<size_t>(info(c.op).max_sources), c.types.operand);
  if (info(c.op).typing == Typing::Select) list = {uop::Bool, c.types.result, c.types.result};
  return list;
}

// Every scalar operation at every type it has; casts and bitcasts between any two.
std::vector<Case> cases() {
  std::vector<Case> list;
  for (const uop::OpInfo& row : uop::detail::kOps) {
    if (!uop::is_scalar(row.op)) continue;
    for (const DType t : kTypes) {
      if (row.typing == Typing::Convert) {
        for (const DType from : kTypes) list.push_back({row.op, {t, from}});
      } else if (row.over.has(t)) {
        list.push_back({row.op, {row.typing == Typing::Compare ? uop::Bool : t, t}});
      }
    }
  }
  return list;
}

// Runs the case on columns of operands and compares each result with eval().
std::string trouble(const Case& c, const std::vector<std::vector<Value>>& columns) {
  const std::optional<Scalar> scalar = scalar_of(c.op, c.types);
  if (!scalar) return "has no loop";
  const size_t n = columns[0].size();
  std::vector<std::vector<Slot>> slots;
  std::vector<Operand> operands;
  for (const auto& column : columns) {
    slots.emplace_back();
    for (const Value v : column) slots.back().push_back(slot_of(v));
    operands.push_back({slots.back().data(), 1});
  }
  std::vector<Slot> out(n);
  scalar->run(out.data(), operands.data(), static_cast<int64_t>(n));
  scalar->finish(out.data(), static_cast<int64_t>(n));
  for (size_t i = 0; i < n; i++) {
    std::vector<Value> in;
    for (const auto& column : columns) in.push_back(column[i]);
    const std::optional<Value> want = uop::eval(c.op, c.types.result, in);
    const Value got = value_of(c.types.result, out[i]);
    if (!want || agrees(c.op, got, *want)) continue;
    std::string text = fmt::format("gives {:#x}, not {:#x}, for", got.bits, want->bits);
    for (const Value v : in) text += fmt::format(" {:#x} ({})", v.bits, to_text(v));
    return text;
  }
  return "";
}

std::string name(const Case& c) {
  return fmt::format("{} of {} as {}", to_text(c.op), to_text(c.types.operand),
                     to_text(c.types.result));
}

bool has_eval(const Case& c) {
  return c.op != Op::Bitcast || uop::bitcast({c.types.operand, 0}, c.types.result).has_value();
}

Value any(Random& random, DType t) {
  if (t == uop::Bool || !random.once_in(3)) return uop::any_value(random, t);
  const uint64_t bits = random.next();
  return uop::is_float(t) ? Value{t, bits >> (64 - uop::bits_of(t))} : Value{t, wrapped(bits, t)};
}

TEST(Scalar, EveryOperationAgreesWithEvalAtEveryType) {
  Random random(7);
  for (const Case& c : cases()) {
    if (!has_eval(c)) continue;
    std::vector<std::vector<Value>> columns;
    for (const DType t : operand_types(c)) {
      columns.emplace_back();
      for (int i = 0; i < 1500; i++) columns.back().push_back(any(random, t));
    }
    EXPECT_EQ(trouble(c, columns), "") << name(c);
  }
}

std::vector<Value> all_values(DType t) {
  std::vector<Value> list;
  for (uint64_t bits = 0; bits < uint64_t{1} << uop::bits_of(t); bits++) {
    list.push_back({t, uop::is_float(t) ? bits : wrapped(bits, t)});
  }
  return list;
}

TEST(Scalar, EveryOperationAgreesWithEvalOnAllPairsOfEightBits) {
  for (const Case& c : cases()) {
    const std::vector<DType> types = operand_types(c);
    if (uop::bits_of(c.types.operand) != 8 || types.size() > 2 || !has_eval(c)) continue;
    std::vector<std::vector<Value>> columns(types.size());
    for (const Value a : all_values(types[0])) {
      if (types.size() == 1) columns[0].push_back(a);
      for (const Value b : all_values(types[0])) {
        if (types.size() == 1) break;
        columns[0].push_back(a);
        columns[1].push_back(b);
      }
    }
    EXPECT_EQ(trouble(c, columns), "") << name(c);
  }
}

TEST(Scalar, EveryOperationOfOneOperandAgreesWithEvalOnAllSixteenBits) {
  for (const Case& c : cases()) {
    if (uop::bits_of(c.types.operand) != 16 || operand_types(c).size() != 1 || !has_eval(c))
      continue;
    EXPECT_EQ(trouble(c, {all_values(c.types.operand)}), "") << name(c);
  }
}

TEST(Scalar, FusedMultiplyAddRoundsOnceWhereTwoRoundingsDiffer) {
  Random random(3);
  for (const DType t : kFloatTypes) {
    // Sums next to the middle of two numbers: c is a small part of the product's last place.
    std::vector<std::vector<Value>> columns(3);
    for (int i = 0; i < 20000; i++) {
      const double a = 1 + static_cast<double>(random.below(1024)) / 1024;
      const double b = 1 + static_cast<double>(random.below(1024)) / 1024;
      columns[0].push_back(uop::of_double(t, a));
      columns[1].push_back(uop::of_double(t, b));
      columns[2].push_back(uop::of_double(
          t, std::ldexp(random.once_in(2) ? 1 : -1, -static_cast<int>(random.below(120)))));
    }
    EXPECT_EQ(trouble({Op::Fma, {t, t}}, columns), "") << to_text(t);
  }
}

TEST(Scalar, WhatIsOnlyMovedKeepsTheBitsOfEveryNaN) {
  for (const DType t : kFloatTypes) {
    if (uop::bits_of(t) > 16) continue;
    for (const Value v : all_values(t)) ASSERT_EQ(value_of(t, slot_of(v)), v);
  }
  for (const uint64_t bits : {0x7f800001U, 0xff812345U, 0x7fc00000U}) {
    EXPECT_EQ(value_of(uop::F32, slot_of({uop::F32, bits})), (Value{uop::F32, bits}));
  }
}

TEST(Scalar, WhatIsUnspecifiedIsPoisonAndTrapsNothing) {
  for (const DType t : {uop::I32, uop::I64, uop::U8, uop::Index}) {
    const Slot least = wrapped(Slot{1} << (uop::bits_of(t) - 1), t);
    const Slot minus_one = wrapped(~Slot{0}, t);
    const Slot zero = 0;
    for (const Op op : {Op::Div, Op::Mod, Op::TDiv, Op::TMod}) {
      Slot out = 1;
      const Operand by_zero[] = {{&least, 0}, {&zero, 0}};
      scalar_of(op, {t, t})->run(&out, by_zero, 1);
      EXPECT_EQ(out, poison(t));
      const Operand by_minus_one[] = {{&least, 0}, {&minus_one, 0}};
      scalar_of(op, {t, t})->run(&out, by_minus_one, 1);
    }
  }
}

TEST(Scalar, AStrideOfZeroRepeatsAnOperand) {
  const Slot many[] = {1, 2, 3};
  const Slot one = 10;
  Slot out[3];
  const Scalar sub = *scalar_of(Op::Sub, {uop::I32, uop::I32});
  const Operand right[] = {{many, 1}, {&one, 0}};
  sub.run(out, right, 3);
  EXPECT_EQ(std::vector<Slot>(out, out + 3), (std::vector<Slot>{~Slot{8}, ~Slot{7}, ~Slot{6}}));
  const Operand left[] = {{&one, 0}, {many + 2, -1}};
  sub.run(out, left, 3);
  EXPECT_EQ(std::vector<Slot>(out, out + 3), (std::vector<Slot>{7, 8, 9}));
}

// A fold is its operation again and again, from its unit.
TEST(Fold, IsTheOperationRepeatedFromTheUnit) {
  Random random(5);
  int count = 0;
  for (const uop::OpInfo& row : uop::detail::kOps) {
    for (const DType t : kTypes) {
      const std::optional<Fold> fold =
          row.unit == uop::Unit::None ? std::nullopt : fold_of(row.op, t);
      EXPECT_EQ(fold.has_value(), row.unit != uop::Unit::None && row.over.has(t)) << row.text;
      if (!fold) continue;
      count++;
      std::vector<Slot> x;
      for (int i = 0; i < 12; i++) x.push_back(slot_of(any(random, t)));
      std::vector<Slot> acc(3, fold->unit);
      fold->over_rows(acc.data(), 3, x.data(), 4, t);
      for (size_t i = 0; i < 3; i++) {
        Slot want = fold->unit;
        for (size_t k = 0; k < 4; k++) {
          const Operand src[] = {{&want, 0}, {&x[i * 4 + k], 0}};
          Slot next = 0;
          fold->step.run(&next, src, 1);
          fold->step.finish(&next, 1);
          want = next;
        }
        EXPECT_EQ(acc[i], want) << row.text << " " << to_text(t);
      }
      const Value one = value_of(t, x[0]);
      Slot kept = fold->unit;
      fold->over_rows(&kept, 1, x.data(), 1, t);
      const Value in[] = {value_of(t, fold->unit), one};
      EXPECT_EQ(value_of(t, kept), *uop::eval(row.op, t, in));
    }
  }
  EXPECT_GT(count, 60);
}

}  // namespace
}  // namespace assay::interpreter
