#include "engine/codegen/group_reduce.h"

#include <gtest/gtest.h>

#include "engine/codegen/reduce_sample.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;

class GroupReduce : public ReduceTest {};

TEST_F(GroupReduce, FoldsInTwoPhases) {
  const Ref i = make_.range(AxisType::Global, 2);
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref r = make_.range(AxisType::Reduce, 3);
  const Ref sum = make_.fold(Op::Add, input(1, DType::F32, {i, s, r}, 24), {r, s});
  const Ref kernel = make_.sink({make_.stored(output(DType::F32, {i}, 2), sum, {i})});
  EXPECT_EQ(text(kernel), R"(uop 1 kernel
%0 = const index 2
%1 = param f32 %0 {0}
%2 = range index %0 {0 global}
%3 = index f32 %1 %2
%4 = buffer f32 {2 reg}
%5 = after f32 %4 %2
%6 = const f32 0.0
%7 = store void %5 %6
%8 = const index 4
%9 = range index %8 {3 reduce}
%10 = after f32 %4 %7 %9
%11 = buffer f32 {1 reg}
%12 = range index %8 {1 group_reduce}
%13 = after f32 %11 %2 %12
%14 = store void %13 %6
%15 = const index 3
%16 = range index %15 {2 reduce}
%17 = after f32 %11 %14 %16
%18 = const index 24
%19 = param f32 %18 {1}
%20 = mul index %2 %8
%21 = add index %12 %20
%22 = mul index %21 %15
%23 = add index %16 %22
%24 = index f32 %19 %23
%25 = add f32 %17 %24
%26 = store void %17 %25
%27 = end void %26 %16
%28 = after f32 %11 %27
%29 = stage f32 %28 %12 {0 local}
%30 = index f32 %29 %9
%31 = add f32 %10 %30
%32 = store void %10 %31
%33 = end void %32 %9
%34 = after f32 %4 %33
%35 = store void %3 %34
%36 = end void %35 %2
%37 = sink void %36 {"kernel"}
)");
  expect_kept(g_, kernel, {{0, counting(DType::F32, 2)}, {1, counting(DType::F32, 24)}});
}

TEST_F(GroupReduce, SharesOneValueAnItemWithoutAFirstFold) {
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref kernel = only(make_.fold(Op::Max, input(1, DType::I32, {s}, 4), {s}));
  EXPECT_EQ(loops(reduced(kernel)), "1 r1");
  EXPECT_EQ(all(reduced(kernel), Op::Stage)[0]->src[0]->op, Op::Index);
  expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 4)}});
}

// The stage has an axis for each LOCAL and WARP range of the part, each shared one, and the lanes.
TEST_F(GroupReduce, HasAnAxisForWhatThePartStandsIn) {
  const Ref i = make_.range(AxisType::Global, 2);
  const Ref l = make_.range(AxisType::Local, 3);
  const Ref w = make_.range(AxisType::Warp, 2);
  const Ref j = make_.range(AxisType::Upcast, 2);
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref t = make_.range(AxisType::GroupReduce, 2);
  const Ref u = make_.range(AxisType::Unroll, 2);
  const Ref r = make_.range(AxisType::Reduce, 3);
  const Ref x = input(1, DType::I32, {i, l, w, j, s, t, u, r}, 1152);
  const Ref sum = make_.fold(Op::Add, x, {s, r, t, u});
  const Ref kernel =
      make_.sink({make_.stored(output(DType::I32, {i, l, w, j}, 24), sum, {i, l, w, j})});
  const std::vector<Ref> stages = all(reduced(kernel), Op::Stage);
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_EQ(uop::shape_text(uop::shape(g_, stages[0])), "[3, 2, 4, 2, 2]");
  expect_kept(g_, kernel, {{0, counting(DType::I32, 24)}, {1, counting(DType::I32, 1152)}});
}

// A work-item axis that the part does not depend on is none of the stage.
TEST_F(GroupReduce, HasNoAxisForOtherItems) {
  const Ref l = make_.range(AxisType::Local, 3);
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref sum = make_.fold(Op::Add, input(1, DType::I32, {s}, 4), {s});
  const Ref value = make_.mul(sum, input(2, DType::I32, {l}, 3));
  const Ref kernel = make_.sink({make_.stored(output(DType::I32, {l}, 3), value, {l})});
  EXPECT_EQ(uop::shape_text(uop::shape(g_, all(reduced(kernel), Op::Stage)[0])), "[4]");
  expect_kept(
      g_, kernel,
      {{0, counting(DType::I32, 3)}, {1, counting(DType::I32, 4)}, {2, counting(DType::I32, 3)}});
}

// Both phases of two folds over the same items share their loops, and neither shares a buffer.
TEST_F(GroupReduce, SharesLoopsAndNoBuffers) {
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref r = make_.range(AxisType::Reduce, 3);
  const Ref x = input(1, DType::I32, {s, r}, 12);
  const Ref value = make_.add(make_.fold(Op::Max, x, {r, s}), make_.fold(Op::Min, x, {r, s}));
  const Ref kernel = only(value);
  const Ref lowered = reduced(kernel);
  EXPECT_EQ(loops(lowered), "2 r1 | 2 r2");
  std::vector<std::string> buffers;
  for (const Ref u : toposort(g_, Middle(g_)(kernel, 3))) {
    if (u->op != Op::Buffer) continue;
    buffers.push_back(std::to_string(u->arg.number()) + std::string(to_text(u->arg.addr_space())));
  }
  std::ranges::sort(buffers);
  EXPECT_EQ(buffers,
            (std::vector<std::string>{"0local", "1local", "2reg", "3reg", "4reg", "5reg"}));
  expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 12)}});
}

// What one shared fold is made of may be the result of another over the same items.
TEST_F(GroupReduce, FoldsOneAfterTheOther) {
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref r = make_.range(AxisType::Reduce, 3);
  const Ref x = input(1, DType::I32, {s, r}, 12);
  const Ref most = make_.fold(Op::Max, x, {r, s});
  const Ref kernel = only(make_.fold(Op::Add, g_.alu(Op::Sub, {x, most}), {r, s}));
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 12)}});
  EXPECT_EQ(stored, values(DType::I32, {-66}));
}

// B139's kernel: the scratch is used again in each iteration of the loop around it.
TEST_F(GroupReduce, UsesItsStageAgainInALoop) {
  for (const AxisType type : {AxisType::Loop, AxisType::Reduce}) {
    const Ref i = make_.range(type, 5);
    const Ref s = make_.range(AxisType::GroupReduce, 4);
    const Ref inner = make_.fold(Op::Max, input(1, DType::I32, {i, s}, 20), {s});
    const bool is_fold = type == AxisType::Reduce;
    const Ref out = output(DType::I32, {}, 1);
    const Ref outs = output(DType::I32, {i}, 5);
    const Ref kernel = make_.sink({is_fold ? make_.stored(out, make_.fold(Op::Add, inner, {i}), {})
                                           : make_.stored(outs, inner, {i})});
    const auto stored = expect_kept(
        g_, kernel, {{0, counting(DType::I32, is_fold ? 1 : 5)}, {1, counting(DType::I32, 20)}});
    EXPECT_EQ(stored, is_fold ? values(DType::I32, {55}) : values(DType::I32, {3, 7, 11, 15, 19}));
    const std::vector<Ref> stages = all(reduced(kernel), Op::Stage);
    ASSERT_EQ(stages.size(), 1U);
    EXPECT_TRUE(std::ranges::equal(uop::ranges(g_, stages[0]), std::vector<Ref>{i}));
  }
}

TEST_F(GroupReduce, NestsSharedFolds) {
  const Ref s = make_.range(AxisType::GroupReduce, 3);
  const Ref t = make_.range(AxisType::GroupReduce, 4);
  const Ref inner = make_.fold(Op::Max, input(1, DType::I32, {s, t}, 12), {t});
  const Ref kernel = only(make_.fold(Op::Add, inner, {s}));
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 12)}});
  EXPECT_EQ(stored, values(DType::I32, {21}));
}

}  // namespace
}  // namespace assay::codegen
