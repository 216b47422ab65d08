#include "engine/codegen/expand.h"

#include <gtest/gtest.h>

#include "engine/codegen/kernel_sample.h"
#include "engine/uop/shape.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;

class Expander : public testing::Test {
 protected:
  Ref expanded(Ref kernel) { return Middle(g_)(kernel, 1); }
  std::string text(Ref kernel) { return uop::to_text(g_, expanded(kernel), "kernel"); }
  // The only node of this operation.
  Ref only(Ref kernel, Op op) {
    Ref found = nullptr;
    for (const Ref u : toposort(g_, kernel)) {
      if (u->op != op) continue;
      EXPECT_EQ(found, nullptr) << "there are two";
      found = u;
    }
    return found;
  }

  uop::Graph g_;
  Maker make_{g_};
};

TEST_F(Expander, MakesLanesAxesOfOneShape) {
  const Ref i = make_.range(AxisType::Global, 8);
  const Ref j = make_.range(AxisType::Upcast, 2);
  const Ref k = make_.range(AxisType::Upcast, 3);
  const Ref x = make_.at(make_.param(1, DType::F32, 2), {j});
  const Ref out = make_.at(make_.param(0, DType::F32, 48), {make_.flat({i, j, k})});
  const Ref kernel = make_.sink({make_.stored(out, x, {i, j, k})});
  EXPECT_EQ(text(kernel), R"(uop 1 kernel
%0 = const index 48
%1 = param f32 %0 {0}
%2 = const index 0
%3 = const index 1
%4 = const index 2
%5 = stack index %2 %3 %4
%6 = stack index %2 %3
%7 = reshape index %6 %4 %3
%8 = const index 8
%9 = range index %8 {0 global}
%10 = mul index %9 %4
%11 = add index %7 %10
%12 = const index 3
%13 = mul index %11 %12
%14 = add index %5 %13
%15 = index f32 %1 %14
%16 = param f32 %4 {1}
%17 = index f32 %16 %7
%18 = store void %15 %17
%19 = end void %18 %9
%20 = sink void %19 {"kernel"}
)");
  expect_kept(g_, kernel, {{0, counting(DType::F32, 48)}, {1, counting(DType::F32, 2)}});
}

TEST_F(Expander, PutsFoldedAxesInFrontAndBack) {
  const Ref j = make_.range(AxisType::Upcast, 2);
  const Ref r = make_.range(AxisType::Reduce, 4);
  const Ref u = make_.range(AxisType::Unroll, 3);
  const Ref k = make_.range(AxisType::Upcast, 5);
  const Ref x = make_.at(make_.param(1, DType::I32, 120), {make_.flat({j, r, u, k})});
  const Ref out = make_.at(make_.param(0, DType::I32, 10), {make_.flat({j, k})});
  const Ref sum = make_.fold(Op::Add, x, {r, u});
  const Ref kernel = make_.sink({make_.stored(out, sum, {j, k})});
  EXPECT_EQ(text(kernel), R"(uop 1 kernel
%0 = const index 10
%1 = param i32 %0 {0}
%2 = const index 0
%3 = const index 1
%4 = const index 2
%5 = const index 3
%6 = const index 4
%7 = stack index %2 %3 %4 %5 %6
%8 = stack index %2 %3
%9 = reshape index %8 %4 %3 %3
%10 = const index 5
%11 = mul index %9 %10
%12 = add index %7 %11
%13 = index i32 %1 %12
%14 = const index 120
%15 = param i32 %14 {1}
%16 = stack index %2 %3 %4
%17 = reshape index %16 %5 %3
%18 = range index %6 {1 reduce}
%19 = mul index %9 %6
%20 = add index %18 %19
%21 = mul index %20 %5
%22 = add index %17 %21
%23 = mul index %22 %10
%24 = add index %7 %23
%25 = index i32 %15 %24
%26 = permute i32 %25 {1 0 2}
%27 = reduce i32 %26 %18 {add 1}
%28 = reshape i32 %27 %4 %3 %10
%29 = store void %13 %28
%30 = sink void %29 {"kernel"}
)");
  expect_kept(g_, kernel, {{0, counting(DType::I32, 10)}, {1, counting(DType::I32, 120)}});
}

TEST_F(Expander, FoldsSeveralAxesAtOnce) {
  const Ref u = make_.range(AxisType::Unroll, 3);
  const Ref j = make_.range(AxisType::Upcast, 2);
  const Ref v = make_.range(AxisType::Unroll, 5);
  const Ref x = make_.at(make_.param(1, DType::I32, 30), {make_.flat({u, j, v})});
  const Ref out = make_.at(make_.param(0, DType::I32, 2), {j});
  // The axes stand in the order of the ranges, whatever the order in the fold.
  const Ref kernel = make_.sink({make_.stored(out, make_.fold(Op::Add, x, {v, u}), {j})});
  const Ref fold = only(expanded(kernel), Op::Reduce);
  EXPECT_EQ(fold->arg.number(), 2);
  EXPECT_EQ(uop::shape_text(uop::shape(g_, fold->src[0])), "[3, 5, 2]");
  EXPECT_EQ(fold->src.size(), 1U);
  expect_kept(g_, kernel, {{0, counting(DType::I32, 2)}, {1, counting(DType::I32, 30)}});
}

// A fold counts its lanes whether its value depends on them or not.
TEST_F(Expander, RepeatsWhatDoesNotDependOnItsLanes) {
  const Ref i = make_.range(AxisType::Loop, 2);
  const Ref u = make_.range(AxisType::Unroll, 3);
  const Ref v = make_.range(AxisType::Unroll, 2);
  const Ref x = make_.at(make_.param(1, DType::I32, 4), {make_.flat({i, v})});
  const Ref out = make_.at(make_.param(0, DType::I32, 2), {i});
  const Ref kernel = make_.sink({make_.stored(out, make_.fold(Op::Add, x, {u, v}), {i})});
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::I32, 2)}, {1, counting(DType::I32, 4)}});
  EXPECT_EQ(stored, (std::vector{uop::of_int(DType::I32, 3), uop::of_int(DType::I32, 15)}));
}

TEST_F(Expander, FoldsNoAxisOfOneLane) {
  const Ref r = make_.range(AxisType::Reduce, 4);
  const Ref u = make_.range(AxisType::Unroll, 1);
  const Ref x = make_.at(make_.param(1, DType::I32, 4), {make_.flat({r, u})});
  const Ref out = make_.at(make_.param(0, DType::I32, 1), {make_.number(0)});
  const Ref kernel = make_.sink({make_.stored(out, make_.fold(Op::Add, x, {r, u}), {})});
  EXPECT_EQ(only(expanded(kernel), Op::Reduce)->arg.number(), 0);
  expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 4)}});
}

TEST_F(Expander, LeavesAKernelWithoutLanesAsItIs) {
  const Ref i = make_.range(AxisType::Global, 8);
  const Ref r = make_.range(AxisType::Reduce, 4);
  const Ref x = make_.at(make_.param(1, DType::F32, 32), {make_.flat({i, r})});
  const Ref out = make_.at(make_.param(0, DType::F32, 8), {i});
  const Ref kernel = make_.sink({make_.stored(out, make_.fold(Op::Max, x, {r}), {i})});
  EXPECT_EQ(expanded(kernel), kernel);
}

// B154, and the upcast of a padded axis: lanes at the edge of a gate are gated one by one.
TEST_F(Expander, GatesEachLaneByItself) {
  const Ref i = make_.range(AxisType::Loop, 2);
  const Ref j = make_.range(AxisType::Upcast, 4);
  const Ref at = make_.flat({i, j});
  const Ref two = make_.number(-2);
  const Ref shifted = make_.add(at, two);
  const Ref inside = g_.alu(Op::Lt, {make_.number(1), at});
  const Ref last = make_.below(at, 7);
  const Ref gate = g_.alu(Op::And, {inside, last});
  const Ref x = make_.at(make_.param(1, DType::F32, 5), {make_.valid(gate, shifted)});
  const Ref seven = g_.constant(DType::F32, 7);
  const Ref value = g_.make(Op::Where, DType::F32, {gate, x, seven});
  const Ref out = make_.at(make_.param(0, DType::F32, 7), {make_.valid(last, at)});
  const Ref kernel = make_.sink({make_.stored(out, value, {i, j})});
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::F32, 7)}, {1, counting(DType::F32, 5)}});
  std::vector<uop::Value> want(2, uop::of_int(DType::F32, 7));
  for (const uop::Value v : counting(DType::F32, 5)) want.push_back(v);
  EXPECT_EQ(stored, want);
}

TEST_F(Expander, IsDoneOnce) {
  const Ref j = make_.range(AxisType::Upcast, 2);
  const Ref u = make_.range(AxisType::Unroll, 3);
  const Ref x = make_.at(make_.param(1, DType::I32, 6), {make_.flat({j, u})});
  const Ref out = make_.at(make_.param(0, DType::I32, 2), {j});
  const Ref kernel = make_.sink({make_.stored(out, make_.fold(Op::Add, x, {u}), {j})});
  const Ref once = expanded(kernel);
  uop::Run run(g_);
  EXPECT_EQ(expander().function(run, once).value(), once);
}

}  // namespace
}  // namespace assay::codegen
