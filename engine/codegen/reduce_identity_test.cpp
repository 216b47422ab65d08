#include "engine/codegen/reduce_identity.h"

#include <gtest/gtest.h>

#include "engine/codegen/reduce_sample.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;
using uop::Value;

// Each fold that has a unit, at each type: {op, type} with padded lanes, which are the unit.
struct FoldAt {
  Op op;
  DType t;
};

std::vector<FoldAt> every_fold() {
  std::vector<FoldAt> folds;
  for (int i = 0; i < uop::kOpCount; ++i) {
    const uop::OpInfo& row = uop::info(static_cast<Op>(i));
    if (row.unit == uop::Unit::None) continue;
    for (int k = 0; k < uop::kDTypeCount; ++k) {
      const auto t = static_cast<DType>(k);
      if (row.over.has(t) && t != uop::Index) folds.push_back({row.op, t});
    }
  }
  return folds;
}

class EveryFold : public testing::TestWithParam<FoldAt> {
 protected:
  // Values that a wrong unit would hide: none is one.
  std::vector<Value> contents() const {
    const DType t = GetParam().t;
    if (t == DType::Bool) {
      const bool held = GetParam().op == Op::And || GetParam().op == Op::Min;
      return std::vector<Value>(6, uop::of_bool(held));
    }
    // Small enough for sums and products of 8-bit floats to be exact in any order.
    if (GetParam().op == Op::Max && !uop::is_unsigned(t))
      return values(t, {-3, -2, -3, -1, -2, -1});
    return values(t, {2, 1, 2, 1, 1, 1});
  }
  Value folded(const std::vector<Value>& list) const {
    Value all = uop::unit_of(GetParam().op, GetParam().t);
    for (const Value v : list) {
      const Value pair[] = {all, v};
      all = *uop::eval(GetParam().op, GetParam().t, pair);
    }
    return all;
  }

  uop::Graph g_;
  Maker make_{g_};
};

// B129, B131, B133, B135: INVALID lanes are the unit of the fold, whatever kind of axis was padded.
TEST_P(EveryFold, TakesPaddedLanesAsItsUnit) {
  const auto [op, t] = GetParam();
  const std::vector<Value> in = contents();
  for (const AxisType type : {AxisType::Reduce, AxisType::Unroll, AxisType::GroupReduce}) {
    const Ref r = make_.range(AxisType::Reduce, 2);
    const Ref p = make_.range(type, 4);
    const Ref at = make_.flat({r, p});
    const Ref inside = make_.below(at, 6);
    const Ref x = make_.at(make_.param(1, t, 6), {make_.valid(inside, at)});
    const Ref all = make_.fold(op, make_.valid(inside, x), {r, p});
    const Ref out = make_.at(make_.param(0, t, 1), {make_.number(0)});
    const Ref kernel = make_.sink({make_.stored(out, all, {})});
    EXPECT_EQ(expect_kept(g_, kernel, {{0, {folded({})}}, {1, in}})[0], folded(in));
  }
}

std::string fold_name(const testing::TestParamInfo<FoldAt>& row) {
  return std::string(to_text(row.param.op)) + "_" + std::string(to_text(row.param.t));
}

INSTANTIATE_TEST_SUITE_P(Every, EveryFold, testing::ValuesIn(every_fold()), fold_name);

class ReduceIdentity : public ReduceTest {
 protected:
  void SetUp() override {
    r_ = make_.range(AxisType::Reduce, 4);
    inside_ = make_.below(r_, 3);
    x_ = make_.at(make_.param(1, DType::F32, 3), {make_.valid(inside_, r_)});
  }
  // What is folded holds no INVALID but in indices, and the fold is the product of `want`.
  void expect_product(Ref x, double want) {
    const Ref kernel = only(make_.fold(Op::Mul, x, {r_}));
    const Contents params = {{0, counting(DType::F32, 1)}, {1, values(DType::F32, {2, 3, 4})}};
    EXPECT_EQ(expect_kept(g_, kernel, params), values(DType::F32, {want}));
    for (const Ref u : toposort(g_, reduced(kernel))) {
      if (u->op == Op::Index) continue;
      for (const Ref s : u->src) EXPECT_FALSE(s->op == Op::Invalid && s->dtype == DType::F32);
    }
  }

  Ref r_ = nullptr;
  Ref inside_ = nullptr;
  Ref x_ = nullptr;
};

TEST_F(ReduceIdentity, TakesWhatIsOutsideAsTheUnit) {
  expect_product(make_.valid(inside_, x_), 24);
}

TEST_F(ReduceIdentity, SeesInvalidWithinAFunction) {
  expect_product(make_.add(make_.valid(inside_, x_), g_.constant(DType::F32, 1)), 60);
}

TEST_F(ReduceIdentity, SeesIndicesThatAreGatedOff) {
  expect_product(make_.add(x_, g_.constant(DType::F32, 1)), 60);
}

TEST_F(ReduceIdentity, SeesTheOtherBranch) {
  const Ref five = g_.constant(DType::F32, 5);
  expect_product(g_.make(Op::Where, DType::F32, {inside_, x_, five}), 120);
  const Ref nothing = g_.make(Op::Invalid, DType::F32, {});
  const Ref outside = make_.below(make_.number(2), 2);  // false
  const Ref either = g_.make(Op::Where, DType::F32, {outside, nothing, make_.valid(inside_, x_)});
  expect_product(either, 24);
}

TEST_F(ReduceIdentity, AsksAGateOnlyWhereTheOuterOneHolds) {
  const Ref zero = make_.number(0);
  const Ref three = make_.number(3);
  const Ref left = g_.alu(Op::Sub, {three, r_});
  const Ref quotient = g_.alu(Op::Div, {three, left});  // by zero at r = 3
  const Ref positive = g_.alu(Op::Lt, {zero, quotient});
  expect_product(make_.valid(inside_, make_.valid(positive, x_)), 24);
}

// A read that is padded by a value needs no more than that.
TEST_F(ReduceIdentity, AddsNothingToAPaddedValue) {
  const Ref zero = g_.constant(DType::F32, 0);
  const Ref padded = g_.make(Op::Where, DType::F32, {inside_, x_, zero});
  const Ref kernel = only(make_.fold(Op::Add, padded, {r_}));
  EXPECT_EQ(all(reduced(kernel), Op::Where).size(), 2U);  // of the value, and of the index
}

// Each pad is asked once, and of the read that stands under both nothing is left to ask.
TEST_F(ReduceIdentity, AddsNothingToAValueThatIsPaddedTwice) {
  const Ref zero = g_.constant(DType::F32, 0);
  const Ref after = g_.alu(Op::Lt, {make_.number(0), r_});
  const Ref gated = make_.valid(g_.alu(Op::And, {inside_, after}), r_);
  const Ref p = make_.param(1, DType::F32, 3);
  const Ref x = make_.at(p, {gated});
  const Ref inner = g_.make(Op::Where, DType::F32, {after, x, zero});
  const Ref padded = g_.make(Op::Where, DType::F32, {inside_, inner, zero});
  const Ref kernel = only(make_.fold(Op::Add, padded, {r_}));
  EXPECT_EQ(all(reduced(kernel), Op::Where).size(), 3U);  // of the values, and of the index
}

}  // namespace
}  // namespace assay::codegen
