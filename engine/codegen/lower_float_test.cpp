// Floats after decomposition, against the scalar meaning.
#include <random>

#include "engine/codegen/decompose.h"
#include "engine/codegen/lowered_term.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::F16;
using uop::F32;
using uop::F64;
using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Value;

std::vector<Value> nasty(DType t) {
  std::vector<Value> all;
  const double tiny = uop::as_double({t, 1});
  for (const double x : {0.0, 1.0, 0.5, 1.5, 2.5, 0.3, 0.7, 3.0, 1e4, tiny, HUGE_VAL, std::nan(""),
                         2047.5, 0x1p22 + 0.5, 0x1p23 + 1, 0x1p52 - 0.5, 1e300}) {
    all.push_back(uop::of_double(t, x));
    all.push_back(uop::of_double(t, -x));
  }
  Value negative_nan = uop::nan_of(t);
  negative_nan.bits |= uint64_t{1} << (bits_of(t) - 1);
  all.push_back(negative_nan);
  return all;
}

void expect_same(Op op, std::initializer_list<Value> x, const uop::Cell& got) {
  const std::vector<Value> values(x);
  ASSERT_TRUE(got.defined());
  const Value expected = *uop::eval(op, values[0].dtype, values);
  ASSERT_TRUE(same(got.value, expected))
      << to_text(op) << " " << to_text(values[0]) << " " << to_text(values.back()) << ": "
      << to_text(got.value) << ", not " << to_text(expected);
}

class WideFloat : public testing::TestWithParam<DType> {};

// B123: NaN and the signs of zeros do not depend on which operand comes first.
TEST_P(WideFloat, HasMaxAndMinOfIeee) {
  const DType t = GetParam();
  for (const Op op : {Op::Max, Op::Min}) {
    Graph g;
    LoweredTerm term(g, g.alu(op, {g.variable("x", t), g.variable("y", t)}), wide_target());
    for (const Value a : nasty(t)) {
      for (const Value b : nasty(t)) expect_same(op, {a, b}, term.at({a, b}));
    }
  }
}

// Where the second operand is NaN the replacement reads the first one no more.
TEST_P(WideFloat, HasNoMaxOfWhatMayBeInvalid) {
  Graph g;
  const Ref x = g.variable("x", GetParam());
  const Ref holds = g.variable("p", DType::Bool);
  const Ref none = g.make(Op::Invalid, GetParam(), {});
  const Ref gated = g.alu(Op::Where, {holds, x, none});
  const Ref other = g.variable("y", GetParam());
  const Ref u = g.alu(Op::Max, {gated, other});
  uop::Run run(g, {}, nullptr, wide_target());
  EXPECT_EQ(run.rewrite(decompose_rules(), u).value(), u);
}

TEST_P(WideFloat, HasMaxAndMinWithConstants) {
  const DType t = GetParam();
  for (const Op op : {Op::Max, Op::Min}) {
    for (const Value c : nasty(t)) {
      Graph g;
      const Ref x = g.variable("x", t);
      LoweredTerm right(g, g.alu(op, {x, g.constant(c)}), wide_target());
      LoweredTerm left(g, g.alu(op, {g.constant(c), x}), wide_target());
      for (const Value a : nasty(t)) {
        expect_same(op, {a, c}, right.at({a}));
        expect_same(op, {c, a}, left.at({a}));
      }
    }
  }
}

// What is known of operands leaves things out.
TEST_P(WideFloat, HasMaxAndMinWithinBounds) {
  const DType t = GetParam();
  for (const Op op : {Op::Max, Op::Min}) {
    for (const double lo : {-1.0, -0.0, 0.0, 0.5}) {
      Graph g;
      const Ref x = g.variable("x", uop::of_double(t, lo), uop::of_double(t, 2.5));
      const Ref y = g.variable("y", t);
      LoweredTerm term(g, g.alu(op, {x, y}), wide_target());
      LoweredTerm turned(g, g.alu(op, {y, x}), wide_target());
      for (const Value a : nasty(t)) {
        const double v = uop::as_double(a);
        const bool inside = v >= lo && v <= 2.5;
        for (const Value b : nasty(t)) {
          if (!inside) continue;
          expect_same(op, {a, b}, term.at({a, b}));
          expect_same(op, {b, a}, turned.at({a, b}));
        }
      }
    }
  }
}

TEST_P(WideFloat, RoundsToWholeNumbersWhereTheTargetCannot) {
  const DType t = GetParam();
  uop::Target target = wide_target();
  std::erase_if(target.math.limits, [](const uop::UlpLimit& row) {
    return uop::OpSet{Op::Trunc, Op::Floor, Op::Ceil, Op::Round}.has(row.op);
  });
  std::mt19937_64 random(1);
  for (const Op op : {Op::Trunc, Op::Floor, Op::Ceil, Op::Round}) {
    Graph g;
    LoweredTerm term(g, g.alu(op, {g.variable("x", t)}), target);
    for (const Value a : nasty(t)) expect_same(op, {a}, term.at({a}));
    for (int i = 0; i < 20000; i++) {
      const Value a = uop::of_double(t, static_cast<double>(random() % 4096) / 8 - 256);
      const Value b = {t, random() & ((uint64_t{2} << (bits_of(t) - 1)) - 1)};
      expect_same(op, {a}, term.at({a}));
      expect_same(op, {b}, term.at({b}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codegen, WideFloat, testing::Values(F16, F32, F64),
                         [](const auto& c) { return std::string(uop::to_text(c.param)); });

// The wide target has no division, square root or function at f16.
TEST(LowerFloat, ComputesAtF32WhatF16Lacks) {
  for (const Op op :
       {Op::Recip, Op::Sqrt, Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos}) {
    Graph g;
    LoweredTerm term(g, g.alu(op, {g.variable("x", F16)}), wide_target());
    int differ = 0;
    for (uint64_t bits = 0; bits < 65536; bits++) {
      const Value a = {F16, bits};
      const Value expected = *uop::eval(op, F16, {&a, 1});
      const Value got = term.at({a}).value;
      differ += same(got, expected) ? 0 : 1;
    }
    const bool exact = op == Op::Recip || op == Op::Sqrt;
    EXPECT_LE(differ, exact ? 0 : 100) << to_text(op);
  }
}

TEST(LowerFloat, DividesHalvesWithOneRounding) {
  Graph g;
  LoweredTerm term(g, g.alu(Op::FDiv, {g.variable("x", F16), g.variable("y", F16)}), wide_target());
  std::mt19937_64 random(1);
  for (int i = 0; i < 50000; i++) {
    const Value a = {F16, random() & 0xFFFF};
    const Value b = {F16, random() & 0xFFFF};
    expect_same(Op::FDiv, {a, b}, term.at({a, b}));
  }
}

}  // namespace
}  // namespace assay::codegen
